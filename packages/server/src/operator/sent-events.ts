/** An event of a stream of server-sent events. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** The events of a stream, as they come. An event that the stream breaks off in is left out. */
export async function* sentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0 || id !== undefined) yield { id, data: data.join('\n') };
      id = undefined;
      data = [];
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const bytes of body) {
    const pieces = decoder.decode(bytes, { stream: true }).split('\n');
    for (const piece of pieces.slice(0, -1)) {
      yield [...parts, piece].join('').replace(/\r$/, '');
      parts = [];
    }
    parts.push(pieces.at(-1) ?? '');
  }
}
