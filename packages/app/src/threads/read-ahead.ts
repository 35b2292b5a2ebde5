import type { RunId } from '@signalbox/model';
import type { IntervalSpace, RunReader } from '@signalbox/runs';

/** Reads a run for the thread that resumes it: while the thread loads the plan, and as text, which is cheaper to pass. */
export interface ReadAhead {
  /** The run is being passed to a thread. */
  begin(run: RunId): void;
  /** The rows of a space in a frame, as written by `rowsText`. */
  at(run: RunId, space: IntervalSpace, frame: number): Promise<string>;
  /** The run is no longer driven. */
  end(run: RunId): void;
}

const SPACES: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];

export function createReadAhead(reader: Pick<RunReader, 'run' | 'at'>): ReadAhead {
  const rows = new Map<RunId, Promise<Rows | undefined>>();

  async function read(run: RunId): Promise<Rows | undefined> {
    // Messages on their way to the thread go first.
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
      // The next caller reads again and gets the error.
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
  /** Each is returned once: the thread keeps it. */
  readonly texts: Map<IntervalSpace, string>;
}

/** Rows as sent to a thread. Their values came from JSON. */
function rowsText(rows: Awaited<ReturnType<RunReader['at']>>): string {
  return JSON.stringify([...rows]);
}

export function rowsOfText(text: string): Awaited<ReturnType<RunReader['at']>> {
  return new Map(JSON.parse(text));
}
