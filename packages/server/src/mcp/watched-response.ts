/** The same response; `onEnd` is called once, when its body is read to its end, fails, or nobody wants it any more. */
export function watchedResponse(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const end = onceOnly(onEnd);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (thrown) {
        controller.error(thrown);
      }
      end();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** The same response, which fails instead of sending anything once it must not be heard any more. */
export function heardWhile(response: Response, mayHear: () => boolean): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (mayHear()) return controller.enqueue(value);
        controller.error(new Error('the token has expired'));
        await reader.cancel();
      } catch (thrown) {
        controller.error(thrown);
      }
    },
    cancel: reason => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function onceOnly(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
