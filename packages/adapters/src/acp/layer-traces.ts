import * as fs from 'node:fs';

/** How many entries are looked at: enough to name some, whatever the agent left. */
const MAX_ENTRIES = 10_000;

/**
 * Paths that may have been written on a layer, found without reading a file: a directory that is new stands for what is in it. Cut off
 * after many entries. Nothing on the layer is touched, and an agent may work on it.
 */
export function writtenPaths(layer: string, root: string): readonly string[] {
  const found: string[] = [];
  let looked = 0;
  const look = (path: string) => {
    for (const entry of entriesIn(`${layer}/upper/${path}`) ?? []) {
      if (++looked > MAX_ENTRIES) return;
      const at = path === '' ? entry.name : `${path}/${entry.name}`;
      const isDirectory =
        entry.isDirectory() && fs.lstatSync(`${root}/${at}`, { throwIfNoEntry: false })?.isDirectory();
      if (isDirectory === true) look(at);
      else found.push(at);
    }
  };
  look('');
  return found;
}

/** Whether a path that was written on a layer differs from the root's. */
export function isWritten(layer: string, root: string, path: string): boolean {
  const [now, below] = [`${layer}/upper/${path}`, `${root}/${path}`].map(at =>
    fs.lstatSync(at, { throwIfNoEntry: false }),
  );
  return now?.isFile() !== true || below?.isFile() !== true || !isSame(`${layer}/upper/${path}`, `${root}/${path}`);
}

/**
 * Paths below a layer that are not as they are in its root: everything that was written there. An entry that was only opened for writing
 * is copied to the layer without a change, and does not count.
 */
export function layerTraces(layer: string, root: string): readonly string[] {
  const found: string[] = [];
  let looked = 0;
  const look = (path: string) => {
    for (const entry of fs.readdirSync(`${layer}/upper/${path}`, { withFileTypes: true })) {
      if (++looked > MAX_ENTRIES) return;
      const at = path === '' ? entry.name : `${path}/${entry.name}`;
      const below = fs.lstatSync(`${root}/${at}`, { throwIfNoEntry: false });
      if (entry.isDirectory() && below?.isDirectory() === true) look(at);
      else if (!entry.isFile() || below?.isFile() !== true || !isSame(`${layer}/upper/${at}`, `${root}/${at}`))
        found.push(at);
    }
  };
  look('');
  return found;
}

/** Undefined for a directory that the agent closed. */
function entriesIn(directory: string): readonly fs.Dirent[] | undefined {
  try {
    return fs.readdirSync(directory, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

const BLOCK = 1 << 20;

function isSame(one: string, other: string): boolean {
  const [a, b] = [fs.statSync(one), fs.statSync(other)];
  if (a.size !== b.size || a.mode !== b.mode) return false;
  const descriptors: number[] = [];
  try {
    for (const path of [one, other]) descriptors.push(fs.openSync(path, 'r'));
    const blocks = [Buffer.alloc(BLOCK), Buffer.alloc(BLOCK)] as const;
    for (let at = 0; at < a.size; at += BLOCK) {
      const [first, second] = descriptors.map((fd, index) =>
        fs.readSync(fd, blocks[index === 0 ? 0 : 1], 0, BLOCK, at),
      );
      if (first !== second || !blocks[0].subarray(0, first).equals(blocks[1].subarray(0, second))) return false;
    }
    return true;
  } catch {
    // An agent that closed a file has changed it.
    return false;
  } finally {
    for (const fd of descriptors) fs.closeSync(fd);
  }
}
