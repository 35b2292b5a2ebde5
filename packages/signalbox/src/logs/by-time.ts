import type { LogLine } from '@signalbox/app/host';

/** The lines of several sources, each of which is in order, by time; at the same time the earlier source comes first. */
export async function* byTime(sources: readonly AsyncIterator<LogLine>[]): AsyncGenerator<LogLine> {
  let heads: { readonly source: AsyncIterator<LogLine>; readonly line: LogLine }[] = [];
  for (const source of sources) {
    const first = await source.next();
    if (first.done !== true) heads.push({ source, line: first.value });
  }
  while (heads.length > 0) {
    let at = 0;
    for (const [index, { line }] of heads.entries()) if (line.timestamp < (heads[at]?.line.timestamp ?? '')) at = index;
    const head = heads[at];
    if (head === undefined) return;
    yield head.line;
    const next = await head.source.next();
    heads = next.done === true ? heads.toSpliced(at, 1) : heads.with(at, { source: head.source, line: next.value });
  }
}
