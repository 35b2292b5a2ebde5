import * as fs from 'node:fs';

const CHUNK = 1 << 20;

/** Whether two files have the same content. Both are closed. */
export function sameBytes(openOne: () => number, openOther: () => number): boolean {
  const left = openOne();
  let right: number | undefined;
  try {
    right = openOther();
    const length = Math.min(CHUNK, fs.fstatSync(left).size + 1);
    const [own, other] = [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)];
    for (;;) {
      const [read, there] = [fs.readSync(left, own), fs.readSync(right, other)];
      if (read !== there || !own.subarray(0, read).equals(other.subarray(0, there))) return false;
      if (read === 0) return true;
    }
  } finally {
    for (const one of [left, right]) if (one !== undefined) fs.closeSync(one);
  }
}
