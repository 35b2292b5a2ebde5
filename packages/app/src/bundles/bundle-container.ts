import { createHash, type Hash } from 'node:crypto';
import { constants as fileFlags } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createDeflateRaw, createInflateRaw } from 'node:zlib';
import type { Digest } from '@signalbox/model';

/**
 * The file of a bundle: lines of text in a gzip file that any tool opens. A header field, which other tools skip, holds the sha256 of
 * everything after the header, so that no bit of the file can change undetected.
 *
 * 1. The file appears under its name completely, on disk, or not at all.
 * 2. Reading and writing take bounded memory, whatever the size of the file.
 * 3. A file is opened once, and the checked bytes are the ones read, whatever happens to the file or its name meanwhile.
 */

/** Magic, deflate, with an extra field, no time, no flags, no system. */
const FIXED = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255] as const;
const FIELD = [36, 0, 'S'.charCodeAt(0), 'B'.charCodeAt(0), 32, 0] as const;
const HEADER_BYTES = FIXED.length + FIELD.length + 32;
const TRAILER_BYTES = 8;
const CHUNK = 1 << 16;
/** Bounds what a file may unpack to. */
export interface UnpackedBounds {
  /** The longest line. */
  readonly line: number;
  /** The whole: this many bytes, or `UNPACKED_RATIO` times the size of the file if that is more. */
  readonly bytes: number;
}

/** No row of a run takes more. */
const BOUNDS: UnpackedBounds = { line: 1 << 28, bytes: 1 << 30 };
/** Records shrink to about a tenth. */
const UNPACKED_RATIO = 100;
const { O_RDONLY, O_NONBLOCK } = fileFlags;

export interface WrittenBundle {
  /** Identifies this exact file. */
  readonly digest: Digest;
  readonly bytes: number;
}

export async function writeContainer(file: string, lines: AsyncIterable<string>): Promise<WrittenBundle> {
  const temporary = `${file}.${process.pid}.part`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    const written = await writeAll(handle, lines);
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
    return written;
  } catch (cause) {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true });
    throw cause;
  }
}

async function writeAll(handle: FileHandle, lines: AsyncIterable<string>): Promise<WrittenBundle> {
  const hash = createHash('sha256');
  let bytes = HEADER_BYTES;
  let [sum, size] = [0, 0];
  const append = async (chunk: Uint8Array) => {
    hash.update(chunk);
    await handle.write(chunk, 0, chunk.length, bytes);
    bytes += chunk.length;
  };
  async function* chunks(): AsyncGenerator<Buffer> {
    let text = '';
    const take = () => {
      const chunk = Buffer.from(text);
      text = '';
      sum = crc32(chunk, sum);
      size += chunk.length;
      return chunk;
    };
    for await (const line of lines) {
      text += `${line}\n`;
      if (text.length >= CHUNK) yield take();
    }
    yield take();
  }
  await pipeline(Readable.from(chunks()), createDeflateRaw({ level: constants.Z_BEST_SPEED + 5 }), async source => {
    for await (const chunk of source) await append(chunk as Uint8Array);
  });
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(sum, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  await append(trailer);
  const digest = hash.digest();
  await handle.write(Buffer.concat([Buffer.from([...FIXED, ...FIELD]), digest]), 0, HEADER_BYTES, 0);
  return { digest: `sha256:${digest.toString('hex')}` as Digest, bytes };
}

/** Why a file is not a readable bundle. */
export class ContainerFault extends Error {
  override readonly name = 'ContainerFault';
  readonly kind: 'format' | 'integrity';

  constructor(kind: ContainerFault['kind'], why: string) {
    super(why);
    this.kind = kind;
  }
}

/** Whether a file begins like a bundle. */
export async function isContainer(file: string): Promise<boolean> {
  const handle = await openFile(file);
  try {
    return await beginsAsOne(handle);
  } finally {
    await handle.close();
  }
}

/** An open file: a replacement under the same name is not read. */
export interface OpenContainer extends WrittenBundle {
  /** The lines of the file. Throws after the last one if the file is not the one that was checked. */
  lines(): AsyncGenerator<string>;
  close(): Promise<void>;
}

/** Opens a file and checks that no bit of it has changed. */
export async function openContainer(file: string, bounds: UnpackedBounds = BOUNDS): Promise<OpenContainer> {
  const handle = await openFile(file);
  try {
    const written = await checked(handle);
    return { ...written, lines: () => linesOf(handle, written, bounds), close: () => handle.close() };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** A pipe or a device may never answer, and never end. */
async function openFile(file: string): Promise<FileHandle> {
  const handle = await open(file, O_RDONLY | O_NONBLOCK);
  const found = await handle.stat();
  if (found.isFile()) return handle;
  await handle.close();
  if (found.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  throw new ContainerFault('format', 'it is not a file');
}

async function beginsAsOne(handle: FileHandle): Promise<boolean> {
  const start = Buffer.alloc(HEADER_BYTES);
  await handle.read(start, 0, HEADER_BYTES, 0);
  return start.subarray(0, HEADER_BYTES - 32).equals(Buffer.from([...FIXED, ...FIELD]));
}

async function checked(handle: FileHandle): Promise<WrittenBundle> {
  const bytes = (await handle.stat()).size;
  if (bytes < HEADER_BYTES + TRAILER_BYTES || !(await beginsAsOne(handle)))
    throw new ContainerFault('format', 'it is not a run bundle');
  const claimed = Buffer.alloc(32);
  await handle.read(claimed, 0, 32, HEADER_BYTES - 32);
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(handle, HEADER_BYTES, bytes)) hash.update(chunk);
  const digest = digestOf(hash);
  if (digest !== `sha256:${claimed.toString('hex')}`) throw changed();
  return { digest, bytes };
}

async function* linesOf(
  handle: FileHandle,
  { digest, bytes }: WrittenBundle,
  bounds: UnpackedBounds,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  async function* packed(): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(handle, HEADER_BYTES, bytes - TRAILER_BYTES)) {
      hash.update(chunk);
      yield chunk;
    }
    for await (const chunk of chunksOf(handle, bytes - TRAILER_BYTES, bytes)) hash.update(chunk);
    if (digestOf(hash) !== digest) throw changed();
  }
  const source = Readable.from(packed());
  const inflate = createInflateRaw({ chunkSize: CHUNK });
  source.on('error', cause => inflate.destroy(cause));
  source.pipe(inflate);
  try {
    const whole = Math.max(bounds.bytes, bytes * UNPACKED_RATIO);
    yield* splitLines(inflate as AsyncIterable<Buffer>, { ...bounds, bytes: whole });
  } catch (cause) {
    if (cause instanceof ContainerFault || (cause as { readonly code?: string }).code === 'ENOENT') throw cause;
    throw new ContainerFault('integrity', `it cannot be unpacked: ${cause instanceof Error ? cause.message : cause}`);
  } finally {
    source.destroy();
    inflate.destroy();
  }
}

async function* splitLines(chunks: AsyncIterable<Buffer>, bounds: UnpackedBounds): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  /** Parts of an unfinished line. */
  let begun: string[] = [];
  let [length, bytes] = [0, 0];
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bounds.bytes) throw new ContainerFault('format', 'it unpacks to far more than its size');
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      yield begun.length === 0 ? part : begun.join('') + part;
      [begun, length] = [[], 0];
    }
    if (rest === '') continue;
    begun.push(rest);
    length += rest.length;
    if (length > bounds.line) throw new ContainerFault('format', 'it has an endless line');
  }
  if (begun.length > 0) throw new ContainerFault('format', 'its last line is incomplete');
}

async function* chunksOf(handle: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK, to - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw changed();
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

const digestOf = (hash: Hash): Digest => `sha256:${hash.digest('hex')}` as Digest;
const changed = () => new ContainerFault('integrity', 'its bytes do not match its digest');
