import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/**
 * The first path under a directory that we may write but our layer could not, or undefined: a layer's user namespace knows only
 * our own user and primary group.
 */
export async function unmappedFile(root: string): Promise<string | undefined> {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  let looked = 0;
  const waiting = [Buffer.from(root)];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const name of namesIn(directory)) {
      const path = Buffer.concat([directory, SLASH, name]);
      const stat = statOf(path);
      if (stat === undefined || stat.isSymbolicLink()) continue;
      if ((stat.uid !== uid || stat.gid !== gid) && isWritable(path)) return path.toString();
      if (stat.isDirectory()) waiting.push(path);
      if (++looked % ENTRIES_PER_TURN === 0) await setImmediate();
    }
  }
  return undefined;
}

const SLASH = Buffer.from('/');
const ENTRIES_PER_TURN = 512;

function namesIn(directory: Buffer): readonly Buffer[] {
  try {
    return fs.readdirSync(directory, { encoding: 'buffer' });
  } catch {
    return [];
  }
}

export function isWritable(path: fs.PathLike): boolean {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined if it is gone, or in a directory that may be listed but not searched. */
function statOf(path: Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
