import type { IncomingMessage } from 'node:http';

/** Of one request. Providers take less. */
const MOST = 64 * 1024 * 1024;

/** Bytes that may be in memory at once, over all requests. */
export interface BytePool {
  take(bytes: number): Promise<void>;
  give(bytes: number): void;
}

export function createBytePool(size: number): BytePool {
  let taken = 0;
  const waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  const next = (): void => {
    for (
      let first = waiting[0];
      first !== undefined && (taken === 0 || taken + first.bytes <= size);
      first = waiting[0]
    ) {
      waiting.shift();
      taken += first.bytes;
      first.go();
    }
  };
  return {
    take: bytes =>
      new Promise(resolve => {
        waiting.push({ bytes, go: resolve });
        next();
      }),
    give(bytes) {
      taken -= bytes;
      next();
    },
  };
}

/** The whole body of a request; undefined if it is too large. It counts in the pool until it is released. */
export async function readBody(
  request: IncomingMessage,
  pool: BytePool,
): Promise<{ readonly bytes: Buffer; release(): void } | undefined> {
  const said = request.headers['content-length'];
  // A length that is not told may be anything: it takes what a large prompt has.
  const expected = said === undefined ? MOST / 8 : Number(said);
  if (!(expected <= MOST)) return undefined;
  await pool.take(expected);
  let isReleased = false;
  const release = () => {
    if (!isReleased) pool.give(expected);
    isReleased = true;
  };
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      parts.push(part);
      length += part.length;
      if (length > MOST) {
        release();
        return undefined;
      }
    }
  } catch (thrown) {
    release();
    throw thrown;
  }
  return { bytes: Buffer.concat(parts), release };
}
