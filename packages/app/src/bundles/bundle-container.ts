import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createDeflateRaw, createInflateRaw } from 'node:zlib';
import type { Digest } from '@signalbox/model';

/**
 * The file of a bundle: lines of text in a gzip file that any tool opens. A field of its header, which other tools skip,
 * holds the sha256 of everything after the header, so that not one bit of the file can change unseen.
 *
 * 1. The file appears under its name as a whole, on disk, or not at all.
 * 2. Reading and writing take bounded memory, whatever the size of the file.
 */

/** Magic, deflate, with an extra field, no time, no flags, no system. */
const FIXED = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255] as const;
const FIELD = [36, 0, 'S'.charCodeAt(0), 'B'.charCodeAt(0), 32, 0] as const;
const HEADER_BYTES = FIXED.length + FIELD.length + 32;
const TRAILER_BYTES = 8;
const CHUNK = 1 << 16;
/** No row of a run takes more. */
const MAX_LINE = 1 << 28;

export interface WrittenBundle {
  /** Names this very file. */
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

/** Why a file is not a bundle that can be read. */
export class ContainerFault extends Error {
  override readonly name = 'ContainerFault';
  readonly kind: 'format' | 'integrity';

  constructor(kind: ContainerFault['kind'], why: string) {
    super(why);
    this.kind = kind;
  }
}

/** Whether a file begins as a bundle does. */
export async function isContainer(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const start = Buffer.alloc(HEADER_BYTES);
    await handle.read(start, 0, HEADER_BYTES, 0);
    return start.subarray(0, HEADER_BYTES - 32).equals(Buffer.from([...FIXED, ...FIELD]));
  } finally {
    await handle.close();
  }
}

/** Checks that not a bit of the file has changed, and says what names it. */
export async function checkContainer(file: string): Promise<WrittenBundle> {
  const bytes = (await stat(file)).size;
  if (bytes < HEADER_BYTES + TRAILER_BYTES || !(await isContainer(file)))
    throw new ContainerFault('format', 'it is not a bundle of a run');
  const hash = createHash('sha256');
  let claimed = Buffer.alloc(0);
  let at = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const inHeader = Math.max(0, Math.min(chunk.length, HEADER_BYTES - at));
    if (inHeader > 0) claimed = Buffer.concat([claimed, chunk.subarray(0, inHeader)]);
    hash.update(chunk.subarray(inHeader));
    at += chunk.length;
  }
  const digest = hash.digest();
  if (!claimed.subarray(-32).equals(digest)) {
    throw new ContainerFault('integrity', 'its bytes are not those that were written');
  }
  return { digest: `sha256:${digest.toString('hex')}` as Digest, bytes };
}

/** The lines of a file that was checked. */
export async function* containerLines(file: string): AsyncGenerator<string> {
  const { size } = await stat(file);
  const inflate = createInflateRaw();
  const source = createReadStream(file, { start: HEADER_BYTES, end: size - TRAILER_BYTES - 1 });
  source.on('error', cause => inflate.destroy(cause));
  source.pipe(inflate);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > MAX_LINE) throw new ContainerFault('format', 'a line of it has no end');
      yield* parts;
    }
  } catch (cause) {
    if (cause instanceof ContainerFault || (cause as { readonly code?: string }).code === 'ENOENT') throw cause;
    throw new ContainerFault('integrity', `it cannot be unpacked: ${cause instanceof Error ? cause.message : cause}`);
  } finally {
    source.destroy();
    inflate.destroy();
  }
  if (rest !== '') throw new ContainerFault('format', 'its last line has no end');
}
