import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { AnswerTap } from './answer-tap.ts';

/** A tap on the bytes of an answer as they are sent, which may be compressed. */
export interface SentTap {
  /** Like `AnswerTap.take`; settles once the bytes are decoded. */
  take(chunk: Buffer): boolean | Promise<boolean>;
  end(): Promise<void>;
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Undefined if the encoding is unknown: the answer cannot be read. */
export function sentTap(tap: AnswerTap, encoding: string | undefined): SentTap | undefined {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return { take: tap.take, end: async () => tap.end() };
  const decoder = decoders[name]?.();
  if (decoder === undefined) return undefined;
  let isLast = false;
  let isBroken = false;
  /** Ends the wait of whoever waits for the decoder. */
  let wake = () => {};
  decoder.on('data', (part: Buffer) => {
    isLast = tap.take(part) || isLast;
  });
  // What cannot be decoded is passed on, and its spending is estimated.
  decoder.on('error', () => {
    isBroken = true;
    wake();
  });
  return {
    take(chunk) {
      if (isBroken) return isLast;
      return new Promise(resolve => {
        wake = () => resolve(isLast);
        decoder.write(chunk, wake);
      });
    },
    async end() {
      if (!isBroken) {
        await new Promise<void>(resolve => {
          wake = resolve;
          decoder.once('end', resolve).end();
        });
      }
      tap.end();
    },
  };
}
