import type { AnyEvent, Frame, RunReader, RunRecord } from '@signalbox/runs';

/** The record of the way to a frame. */
export interface RecordedFrame {
  readonly frame: Frame;
  /** The frame's event in the chained event log. */
  readonly told: Extract<AnyEvent, { readonly type: 'frame.committed' }>;
  /**
   * The events since the previous frame, one list for each process that drove the run in between. Each list but the first begins where the
   * run was resumed; the last one led to the frame.
   */
  readonly lives: readonly (readonly AnyEvent[])[];
}

const PAGE = 500;

/**
 * The frames of a run in order, each with the events that led to it. Leaves out commits after `record` was read, and everything from the
 * first removed event on: nothing can be replayed without what led to it.
 */
export async function* recordedFrames(
  reader: RunReader,
  { id: run, nextSeq }: Pick<RunRecord, 'id' | 'nextSeq'>,
): AsyncGenerator<RecordedFrame> {
  let lives: AnyEvent[][] = [[]];
  let frames: readonly Frame[] = [];
  let index = 0;
  for (let seq = 0; seq < nextSeq; seq += PAGE) {
    const page = await reader.events(run, seq, Math.min(PAGE, nextSeq - seq));
    for (const { event } of page) {
      if (event.type === 'event.gone') return;
      if (event.type === 'run.resumed') lives.push([]);
      lives.at(-1)?.push(event);
      if (event.type !== 'frame.committed') continue;
      if (frames.length === 0) frames = await reader.frames(run, index, PAGE);
      const isKept = frames[0]?.index === index;
      yield { frame: (isKept ? frames[0] : undefined) ?? collected(event), told: event, lives };
      if (isKept) frames = frames.slice(1);
      lives = [[]];
      index += 1;
    }
  }
}

/** The event of a collected frame. Its reads and its render time are gone. */
function collected({ frame: index, ts: at, trigger, digest }: RecordedFrame['told']): Frame {
  return { index, at, trigger, mounted: [], unmounted: [], written: [], digest, verifiable: false };
}
