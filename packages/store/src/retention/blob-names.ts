/**
 * Blob names in a value, as 64 hex digits: a JSON column holds the 32 bytes of a name, and texts hold names as digests. Anything that looks
 * like a name counts: a blob is collected only if it is certainly unreferenced.
 */
export function namesIn(value: unknown): Iterable<string> {
  if (typeof value === 'string') return value.length < 64 ? [] : namesInText(value);
  if (value instanceof Uint8Array && value.length === 32) return [Buffer.from(value).toString('hex')];
  return [];
}

export function* namesInText(text: string): Generator<string> {
  for (const [name] of text.matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) yield name;
}

/**
 * The part of a record that names needed blobs. If a body was replaced, its record's header still names the blobs of the old body, and so
 * does the record that replaced it.
 */
export function neededPart({ header, body }: { readonly header: string; readonly body: string }): string {
  const left = body.replace(WAS, '');
  return REPLACED.test(body) ? left : header + left;
}

const REPLACED = /^\{"salt":"[^"]*","away":\{"by":/;
const WAS = /"was":"sha256:[0-9a-f]{64}"/g;

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}
