import { once } from 'node:events';
import { openHostPathLocks } from '../src/path-locks/host-path-locks.ts';

/** Holds a path until its input closes: `<mode> <directory of locks> <path>`. */
const [mode = '', directory = '', wanted = ''] = process.argv.slice(2);
const lock = await openHostPathLocks(directory).acquire(wanted, mode === 'shared' ? 'shared' : 'exclusive');
process.stdout.write(lock.ok ? 'held\n' : `${lock.error.code}\n`);
await once(process.stdin.resume(), 'end');
