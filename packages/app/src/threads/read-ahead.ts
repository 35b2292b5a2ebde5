import type { RunId } from '@signalbox/model';
import type { IntervalSpace, RunReader } from '@signalbox/runs';

/** What is read of a run for the thread that takes it up: while the thread loads the plan, and as text, which is cheaper to hand over. */
export interface ReadAhead {
  /** The run is being handed to a thread. */
  begin(run: RunId): void;
  /** What a space holds in a frame, as `rowsText` writes it. */
  at(run: RunId, space: IntervalSpace, frame: number): Promise<string>;
  /** Nobody drives the run any more. */
  end(run: RunId): void;
}

const SPACES: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];

export function createReadAhead(reader: Pick<RunReader, 'run' | 'at'>): ReadAhead {
  const rows = new Map<RunId, Promise<Rows | undefined>>();

  async function read(run: RunId): Promise<Rows | undefined> {
    // What is on its way to the thread goes first.
    await new Promise(setImmediate);
    const record = await reader.run(run);
    if (record === undefined || !rows.has(run)) return undefined;
    const { frames, version } = record;
    const texts = new Map<IntervalSpace, string>();
    for (const space of SPACES) texts.set(space, rowsText(await reader.at(run, space, frames)));
    return { frames, version, texts };
  }

  return {
    begin(run) {
      const reading = read(run);
      // Whoever asks reads it again, and is told.
      reading.catch(() => rows.delete(run));
      rows.set(run, reading);
    },
    async at(run, space, frame) {
      const ahead = await rows.get(run)?.catch(() => undefined);
      const text = ahead?.texts.get(space);
      ahead?.texts.delete(space);
      if (ahead === undefined || text === undefined || ahead.frames !== frame)
        return rowsText(await reader.at(run, space, frame));
      const version = (await reader.run(run))?.version;
      return version === ahead.version ? text : rowsText(await reader.at(run, space, frame));
    },
    end: run => void rows.delete(run),
  };
}

interface Rows {
  readonly frames: number;
  readonly version: number;
  /** Each is given out once: a thread keeps what it was told. */
  readonly texts: Map<IntervalSpace, string>;
}

/** Rows as they go to a thread. Their values came from JSON. */
function rowsText(rows: Awaited<ReturnType<RunReader['at']>>): string {
  return JSON.stringify([...rows]);
}

export function rowsOfText(text: string): Awaited<ReturnType<RunReader['at']>> {
  return new Map(JSON.parse(text));
}
