import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

/** Bytes of a request's body. */
export const BODY_MAX_BYTES = 1_048_576;

/** The body of a request as text. No more of it is read than may be there, whatever its length is said to be. */
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
    suggestion: 'Send less, or give a file instead.',
    details: { maxBytes: BODY_MAX_BYTES },
  });
}
