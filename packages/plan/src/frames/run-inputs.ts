import type { Json } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import type { PlanRunOptions } from './engine-options.ts';
import type { RunMemory } from './run-memory.ts';

export interface Signal {
  readonly name: string;
  readonly payload: Json;
}

/**
 * What others appended to the run's events. The first event that was not taken in is part of the run's record, and moves on
 * in the commit of what its signals brought about: so a signal counts once, whatever dies.
 */
export interface RunInputs {
  /** Something may be there. */
  expect(): void;
  /** The signals that came since, in their order. Reads only where something may be there. */
  read(): Promise<readonly Signal[]>;
  /** A commit of the run's own: its events are no input. */
  committed(nextSeq: number, own: number): void;
  /** How far the run has read, if its record is to say so in the next commit. */
  toKeep(isEnd: boolean): number | undefined;
  /** Others wrote between our commits, and it was not read yet. */
  readonly isDue: boolean;
}

const PAGE = 500;
/** A record that lags behind by more than this would make the next process read too much. */
const MAX_LAG = 1000;

export function createRunInputs({ run, plan, reader }: PlanRunOptions, memory: RunMemory): RunInputs {
  const hasSignals = Object.keys(plan.signals ?? {}).length > 0;
  let cursor = memory.record?.inputSeq ?? 0;
  let kept = cursor;
  let isDue = hasSignals && memory.record !== undefined;
  let isTaken = false;
  if (!hasSignals && memory.record !== undefined) cursor = memory.record.nextSeq;

  return {
    expect() {
      isDue = hasSignals;
    },
    async read() {
      if (!isDue) return [];
      isDue = false;
      const signals: Signal[] = [];
      for (;;) {
        const events: Awaited<ReturnType<RunReader['events']>> = await reader.events(run, cursor, PAGE);
        for (const { event } of events) {
          if (event.type === 'signal.received') signals.push({ name: event.name, payload: event.payload });
        }
        cursor += events.length;
        if (events.length < PAGE) break;
      }
      isTaken ||= signals.length > 0;
      return signals;
    },
    committed(nextSeq, own) {
      if (!hasSignals || nextSeq - own === cursor) cursor = nextSeq;
      else isDue = true;
    },
    toKeep(isEnd) {
      if (cursor === kept) return undefined;
      if (!isTaken && !isEnd && (!hasSignals || cursor - kept < MAX_LAG)) return undefined;
      isTaken = false;
      kept = cursor;
      return cursor;
    },
    get isDue() {
      return isDue;
    },
  };
}
