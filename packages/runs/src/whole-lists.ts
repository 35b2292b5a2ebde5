import type { RunId } from '@signalbox/model';
import type { RunFilter, RunReader, TransitionPlace, TransitionView } from './reader.ts';
import type { RunRecord } from './run/run-record.ts';

/** Every run that matches the filter, newest first, read page by page. */
export async function* everyRun(reader: Pick<RunReader, 'runs'>, filter: RunFilter = {}): AsyncGenerator<RunRecord> {
  for (let after = filter.after; ; ) {
    const page = await reader.runs({ ...filter, ...(after !== undefined && { after }) });
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
