import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { costMicroUsd, type Price } from '@signalbox/adapters/metering';
import { type JsonObject, jsonObject, parsedJson, utf8Length } from '@signalbox/model';
import type { CallEstimate } from '@signalbox/runs';

/** What a model may answer to a request that names no maximum. */
export const DEFAULT_OUTPUT = 32_000;
/** An image, whatever its size: providers scale large ones down. */
const IMAGE_TOKENS = 3_000;
/** Bytes of a request after decoding. */
const MOST_DECODED = 256 * 1024 * 1024;

/** The body of a request; undefined if it is not a JSON object, which a provider refuses. */
export function requestBody(body: Buffer, encoding: string | undefined): JsonObject | undefined {
  const text = decoded(body, encoding?.trim().toLowerCase() ?? '')?.toString('utf8');
  const parsed = text === undefined ? undefined : jsonObject.safeParse(parsedJson(text));
  return parsed?.data;
}

function decoded(body: Buffer, encoding: string): Buffer | undefined {
  const most = { maxOutputLength: MOST_DECODED };
  try {
    switch (encoding) {
      case '':
      case 'identity':
        return body;
      case 'gzip':
        return gunzipSync(body, most);
      case 'deflate':
        return inflateSync(body, most);
      case 'br':
        return brotliDecompressSync(body, most);
      case 'zstd':
        return zstdDecompressSync(body, most);
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/** One token per three bytes, rounded up: every tokenizer needs fewer for text. Images count as the providers count them. */
export function estimateInput(body: JsonObject): number {
  let bytes = 0;
  let images = 0;
  const media = (holder: JsonObject) => String(holder.media_type ?? holder.mimeType ?? holder.mime_type ?? '');
  const stack: { readonly value: unknown; readonly isImage: boolean }[] = [{ value: body, isImage: false }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, isImage } = next;
    if (typeof value === 'string') {
      if (isImage || value.startsWith('data:image/')) images++;
      else bytes += utf8Length(value) + 2;
    } else if (Array.isArray(value)) for (const one of value) stack.push({ value: one, isImage: false });
    else if (typeof value === 'object' && value !== null) {
      const isMedia = media(value as JsonObject).startsWith('image/');
      for (const [name, one] of Object.entries(value)) {
        bytes += name.length + 3;
        stack.push({ value: one, isImage: isMedia && name === 'data' });
      }
    } else bytes += String(value).length;
  }
  return Math.ceil(bytes / 3) + images * IMAGE_TOKENS;
}

/** The most that a call may spend: as if nothing of its input were cached. */
export function callEstimate(input: number, output: number, price: Price | undefined): CallEstimate {
  const tokens = { input, output, cached: 0, cacheWrite: input };
  return { tokens: input + output, ...(price !== undefined && { costMicroUsd: costMicroUsd(tokens, price) }) };
}
