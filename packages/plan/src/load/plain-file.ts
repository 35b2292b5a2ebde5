import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file that others may have made. Throws as Node does, with the code EINVAL for anything but a regular file, because a pipe may
 * never answer and a device never end, and with EFBIG for one that is too large.
 */
export function readPlainFile(file: string, isThis: (opened: Stats) => boolean = () => true): Buffer {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = fstatSync(handle);
    if (!opened.isFile() || !isThis(opened)) throw refusal(file, 'EINVAL', 'it is not that file');
    if (opened.size > MAX_BYTES) throw refusal(file, 'EFBIG', `it has more than ${MAX_BYTES} bytes`);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

function refusal(file: string, code: string, why: string): Error {
  return Object.assign(new Error(`${code}: ${why}, ${file}`), { code });
}
