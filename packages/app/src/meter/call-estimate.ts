import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { costMicroUsd, type Price } from '@signalbox/adapters/metering';
import { type JsonObject, parsedJson } from '@signalbox/model';
import type { CallEstimate } from '@signalbox/runs';

/** What a model may answer to a request that names no maximum. */
export const DEFAULT_OUTPUT = 32_000;
/** An image, whatever its size: providers scale large ones down. */
const IMAGE_TOKENS = 3_000;
/** What a provider has kept: a conversation, a file. */
const REFERRED_TOKENS = 200_000;
/** Bytes of a request after decoding. */
const MOST_DECODED = 64 * 1024 * 1024;

/** The body of a request; undefined if it is not a JSON object, which a provider refuses. */
export function requestBody(body: Buffer, encoding: string | undefined): JsonObject | undefined {
  const text = decoded(body, encoding?.trim().toLowerCase() ?? '')?.toString('utf8');
  const parsed = text === undefined ? undefined : parsedJson(text);
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject) : undefined;
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

/**
 * One token per three bytes, rounded up: every tokenizer needs fewer for text. Images count as the providers count them, where a provider reads
 * them as such: the same text within a tool is text. What a request refers to and does not have may be as long as a model's context.
 */
export function estimateInput(body: JsonObject): number {
  let bytes = 0;
  let images = 0;
  let refers = KEPT_BY_PROVIDER.some(name => (body[name] ?? null) !== null);
  const stack: Part[] = [{ value: body, name: '', holder: '', isTool: false }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, name, holder } = next;
    if (typeof value === 'string') {
      if (isImage(next, value)) images++;
      else bytes += Buffer.byteLength(value) + 2;
    } else if (Array.isArray(value)) for (const one of value) stack.push({ ...next, value: one });
    else if (typeof value === 'object' && value !== null) {
      const { media_type: a, mimeType: b, mime_type: c, type } = value as JsonObject;
      const media = String(a ?? b ?? c ?? '');
      const isTool = next.isTool || OF_TOOLS.has(name) || (name === 'input' && holder !== '');
      refers ||= !isTool && (Object.keys(value).some(one => FILES.has(one)) || (name === 'source' && type === 'url'));
      for (const [member, one] of Object.entries(value)) {
        bytes += member.length + 3;
        stack.push({ value: one, name: member, holder: name, media, isTool });
      }
    } else bytes += String(value).length;
  }
  return Math.ceil(bytes / 3) + images * IMAGE_TOKENS + (refers ? REFERRED_TOKENS : 0);
}

interface Part {
  readonly value: unknown;
  readonly name: string;
  /** The name of the object that has it. */
  readonly holder: string;
  readonly media?: string;
  readonly isTool: boolean;
}

/** What a tool is given and called with, which models read as text. */
const OF_TOOLS: ReadonlySet<string> = new Set(
  'tools functions input_schema parameters args arguments functionCall function_call functionResponse'.split(' '),
);
/** Members of a request that name what its provider has kept. */
const KEPT_BY_PROVIDER = ['previous_response_id', 'conversation', 'prompt', 'cachedContent', 'cached_content'];
const FILES: ReadonlySet<string> = new Set(['file_id', 'file_uri', 'fileUri', 'file_url']);
const BASE64 = /^[A-Za-z0-9+/_=-]*$/;

function isImage({ name, holder, media = '', isTool }: Part, value: string): boolean {
  if (isTool) return false;
  if (name === 'data') return media.startsWith('image/') && BASE64.test(value);
  if (name !== 'image_url' && !(name === 'url' && holder === 'image_url')) return false;
  if (/^https?:/.test(value)) return true;
  const comma = /^data:image\/[\w.+-]{1,40};base64,/.exec(value)?.[0].length;
  return comma !== undefined && BASE64.test(value.slice(comma));
}

/** The most that a call may spend: as if nothing of its input were cached. */
export function callEstimate(input: number, output: number, price: Price | undefined): CallEstimate {
  const tokens = { input, output, cached: 0, cacheWrite: input };
  return { tokens: input + output, ...(price !== undefined && { costMicroUsd: costMicroUsd(tokens, price) }) };
}
