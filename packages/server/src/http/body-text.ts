import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

export const BODY_MAX_BYTES = 1_048_576;

/** The body of a request as text. Reads no more than the limit, whatever the declared length. */
export async function bodyText(request: Request): Promise<Result<string, ErrorEnvelope>> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_MAX_BYTES) return err(tooLarge());
  if (request.body === null) return ok('');
  const reader = request.body.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ok(Buffer.concat(parts).toString());
    bytes += value.byteLength;
    if (bytes > BODY_MAX_BYTES) {
      await reader.cancel();
      return err(tooLarge());
    }
    parts.push(value);
  }
}

export function tooLarge(): ErrorEnvelope<'request/too-large'> {
  return failure('request/too-large', {
    message: `The body is larger than ${BODY_MAX_BYTES} bytes.`,
    suggestion: 'Send less, or pass a file instead.',
    details: { maxBytes: BODY_MAX_BYTES },
  });
}
