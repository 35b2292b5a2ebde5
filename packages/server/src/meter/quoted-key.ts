import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

const MOST = 64 * 1024 * 1024;
const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: body => gunzipSync(body, { maxOutputLength: MOST }),
  'x-gzip': body => gunzipSync(body, { maxOutputLength: MOST }),
  deflate: body => inflateSync(body, { maxOutputLength: MOST }),
  br: body => brotliDecompressSync(body, { maxOutputLength: MOST }),
  zstd: body => zstdDecompressSync(body, { maxOutputLength: MOST }),
};

/** Whether an answer has the key in a header or in its body. */
export function quotesKey({ rawHeaders, headers }: IncomingMessage, body: Buffer, key: string): boolean {
  if (rawHeaders.some(text => text.includes(key)) || body.includes(key)) return true;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  try {
    return decoders[encoding]?.(body).includes(key) ?? false;
  } catch {
    // The agent cannot read it either.
    return false;
  }
}
