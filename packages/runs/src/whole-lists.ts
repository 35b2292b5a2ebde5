import { defined, type RunId } from '@signalbox/model';
import type { AnyEvent } from './events/stored-event.ts';
import type { TaskId } from './ids.ts';
import type {
  ArtifactListFilter,
  ArtifactOfRun,
  RunFilter,
  RunReader,
  TransitionPlace,
  TransitionView,
} from './reader.ts';
import type { RunRecord } from './run/run-record.ts';
import type { StreamChunk } from './stream/stream-chunk.ts';

/** How many items are read at a time. */
const PAGE = 500;

/** Every event of a run from `from` on, in order, read page by page. */
export async function* eventsOf(reader: Pick<RunReader, 'events'>, run: RunId, from = 0): AsyncGenerator<AnyEvent> {
  for (let next = from; ; next += PAGE) {
    const page = await reader.events(run, next, PAGE);
    for (const { event } of page) yield event;
    if (page.length < PAGE) return;
  }
}

/** Every event of a run before `before`, the last one first, read page by page. */
export async function* eventsBefore(
  reader: Pick<RunReader, 'events'>,
  run: RunId,
  before: number,
): AsyncGenerator<AnyEvent> {
  for (let end = before; end > 0; end -= PAGE) {
    const from = Math.max(0, end - PAGE);
    const page = await reader.events(run, from, end - from);
    for (const { event } of page.toReversed()) yield event;
  }
}

/** An agent's stored output in a task from chunk `from` on, in order, read page by page. */
export async function* chunksOf(
  reader: Pick<RunReader, 'stream'>,
  run: RunId,
  task: TaskId,
  from = 0,
): AsyncGenerator<StreamChunk> {
  for (let next = from; ; ) {
    const page = await reader.stream(run, task, next, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    next = last.index + 1;
  }
}

/** Every artifact that matches the filter, newest first, read page by page. */
export async function* everyArtifact(
  reader: Pick<RunReader, 'artifactList'>,
  filter: ArtifactListFilter = {},
): AsyncGenerator<ArtifactOfRun> {
  for (let after = filter.after; ; ) {
    const page = await reader.artifactList({ limit: PAGE, ...filter, ...defined({ after }) });
    yield* page.items;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** Every run that matches the filter, newest first, read page by page. */
export async function* everyRun(reader: Pick<RunReader, 'runs'>, filter: RunFilter = {}): AsyncGenerator<RunRecord> {
  for (let after = filter.after; ; ) {
    const page = await reader.runs({ ...filter, ...defined({ after }) });
    yield* page.items;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** Every state change of one frame, in order, read page by page. */
export async function* transitionsIn(
  reader: Pick<RunReader, 'transitions'>,
  run: RunId,
  frame: number,
): AsyncGenerator<TransitionView> {
  for (let from: TransitionPlace = { frame, index: 0 }; ; ) {
    const { items, next } = await reader.transitions(run, { from });
    for (const transition of items) {
      if (transition.frame !== frame) return;
      yield transition;
    }
    if (next?.frame !== frame) return;
    from = next;
  }
}
