/** The most bytes that wait for a client that does not read. */
const WAITING_BYTES = 1_048_576;

/**
 * The same response; if it is a stream, it is read as it arrives, and ends with what waits once that exceeds the limit. The client
 * reconnects with the id of its last event.
 */
export function boundedStream(response: Response, mostBytes = WAITING_BYTES): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (response.body === null || !isStream) return response;
  const reader = response.body.getReader();

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        // One event may be larger than the whole limit.
        const isFull = (controller.desiredSize ?? 0) <= 0;
        if (done || isFull) {
          controller.close();
          if (!done) await reader.cancel();
          return;
        }
        controller.enqueue(value);
      }
    } catch (thrown) {
      controller.error(thrown);
      await reader.cancel(thrown).catch(() => undefined);
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: controller => void pump(controller),
      cancel: reason => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostBytes }),
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
