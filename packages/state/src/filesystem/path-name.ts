import { isUtf8 } from 'node:buffer';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

/**
 * File names as strings, even if their bytes are not UTF-8: a byte that does not decode becomes the lone surrogate
 * U+DC00 + byte, which no decoded text contains, so that names and bytes map one to one.
 */
export function nameFromBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return decoder.decode(bytes);
  let name = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    name +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : decoder.decode(bytes.subarray(at, at + length));
    at += length === 0 ? 1 : length;
  }
  return name;
}

/** The form for the operating system: the text itself, or its bytes if it is not text. */
export function osPath(path: string): string | Buffer {
  if (path.isWellFormed()) return path;
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00) at++;
    else if (code >= 0xdc00 && code < 0xe000) {
      parts.push(Buffer.from(path.slice(from, at)), Buffer.of(code - 0xdc00));
      from = at + 1;
    }
  }
  parts.push(Buffer.from(path.slice(from)));
  return Buffer.concat(parts);
}

/** A name as plain data: itself, or `=` and its bytes in base64. */
export function nameToJson(name: string): string {
  return name.isWellFormed() && !name.startsWith('=') ? name : `=${Buffer.from(osPath(name)).toString('base64')}`;
}

export function nameFromJson(json: string): string {
  return json.startsWith('=') ? nameFromBytes(Buffer.from(json.slice(1), 'base64')) : json;
}

/** A name for people, with unprintable characters escaped. */
export function shownPath(path: string): string {
  let shown = '';
  for (const unit of path) {
    const code = unit.codePointAt(0) ?? 0;
    const odd = code < 0x20 || code === 0x7f || (code >= 0xdc00 && code < 0xe000);
    shown += !odd ? unit : unit === '\n' ? '\\n' : `\\x${(code & 0xff).toString(16).padStart(2, '0')}`;
  }
  return shown;
}

export type PathRefusedError = ErrorEnvelope<'state/path-refused'>;

/** The parts of a path relative to a root. An absolute path and one that climbs out are refused; `.` is the root. */
export function pathParts(path: string): Result<readonly string[], PathRefusedError> {
  if (path.startsWith('/') || path.includes('\0')) return err(pathRefused(path, 'it must be relative to the root'));
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return err(pathRefused(path, 'it leaves the root'));
  }
  return ok(parts);
}

/** A path below a directory, which may be the root of the filesystem. */
export function below(directory: string, path: string): string {
  return directory === '/' ? `/${path}` : `${directory}/${path}`;
}

export function pathRefused(path: string, reason: string): PathRefusedError {
  return failure('state/path-refused', {
    message: `the path ${JSON.stringify(shownPath(path))} is refused: ${reason}`,
    suggestion: 'Use a path inside the working directory.',
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How many bytes from here on are one valid character; 0 if none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** The parts of a path that was accepted before; none if it is not one. */
export function partsOf(path: string): readonly string[] {
  const parts = pathParts(path);
  return parts.ok ? parts.value : [];
}
