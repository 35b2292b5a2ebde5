import type { Json, RunId } from '@signalbox/model';
import type { IntervalSpace, RunReader, RunRecord } from '@signalbox/runs';
import type { RunValues } from '@signalbox/store';

/**
 * Reads the values of runs in the thread that takes them up: the owner's thread has enough to do at that moment, and would have to pass them
 * on as text.
 *
 * 1. Values are read once, possibly before the run is handed over, and are used only if the run is still as it was then. Otherwise, and if
 *    they cannot be read here, the owner reads them, and reports why.
 * 2. Each space is handed out once. Values are held until then, or until the run is no longer driven.
 */
export interface OwnValues extends Pick<RunReader, 'run' | 'at'> {
  /** The run is about to be taken up. */
  read(run: RunId, database: string): void;
  /** The run is no longer driven. */
  forget(run: RunId): void;
}

export const TAKEN_SPACES: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];

/** After more events than that, values are read again. */
const MOST_EVENTS = 20;

interface Held extends RunValues {
  /** Those not handed out yet. */
  readonly spaces: Map<IntervalSpace, ReadonlyMap<string, Json>>;
}

type ReadValues = (run: RunId, database: string) => RunValues | undefined;

export function createOwnValues(owner: Pick<RunReader, 'run' | 'at' | 'events'>, readValues: ReadValues): OwnValues {
  const held = new Map<RunId, Held>();

  /** The version does not count what people do: of that, only a collapse or a redaction changes values. */
  async function isUnchanged(values: Held, { id, version, frames, nextSeq }: RunRecord): Promise<boolean> {
    const news = nextSeq - values.nextSeq;
    if (version !== values.version || frames !== values.frames || news > MOST_EVENTS) return false;
    const events = news === 0 ? [] : await owner.events(id, values.nextSeq, news);
    return !events.some(({ event: { type } }) => type === 'run.collapsed' || type === 'run.redacted');
  }

  return {
    read(run, database) {
      if (held.has(run)) return;
      try {
        const values = readValues(run, database);
        if (values !== undefined) held.set(run, { ...values, spaces: new Map(values.spaces) });
      } catch {
        // The owner says what is wrong.
      }
    },
    forget: run => void held.delete(run),
    async run(run) {
      const record = await owner.run(run);
      const values = held.get(run);
      if (values !== undefined && (record === undefined || !(await isUnchanged(values, record)))) held.delete(run);
      return record;
    },
    async at(run, space, frame) {
      const values = held.get(run);
      const found = values?.frames === frame ? values.spaces.get(space) : undefined;
      if (found === undefined) return owner.at(run, space, frame);
      values?.spaces.delete(space);
      if (values?.spaces.size === 0) held.delete(run);
      return found;
    },
  };
}
