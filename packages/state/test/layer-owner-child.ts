// A process that runs one command on a layer, and stays for as long as its input is open. It can be killed at any time.
// node layer-owner-child.ts DIRECTORY SCRIPT
import { openLayered } from './layered.ts';

const [directory = '', script = ''] = process.argv.slice(2);
const place = await openLayered(directory);
await place.run(script, { timeoutMs: 3_600_000 });
process.stdin.resume();
