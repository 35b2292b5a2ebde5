/** Requests whose answers are no longer than `bytes`, to the address itself: a redirect is an error. */
export function boundedFetch(bytes: number): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, { ...init, redirect: 'error' });
    if (answer.body === null) return answer;
    let read = 0;
    const bounded = answer.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, stream) {
          read += chunk.byteLength;
          if (read > bytes) stream.error(new Error(`it answered with more than ${bytes} bytes`));
          else stream.enqueue(chunk);
        },
      }),
    );
    return new Response(bounded, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  };
}
