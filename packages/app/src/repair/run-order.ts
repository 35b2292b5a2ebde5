import { nodeHasher } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { openRecord } from '@signalbox/runs';
import { journalLog } from './run-journals.ts';

/**
 * Runs in the order in which they arrived in the data directory, according to their journals: lists show runs in the order in which the
 * database got them. A minted id holds its time. A derived one holds none: its run arrived when it was imported, or else when it was
 * created. A bundle holds runs by generation, so runs imported together arrived in that order.
 */
export function inOrderOfArrival(dataDirectory: string, runs: readonly RunId[]): readonly RunId[] {
  const keys = new Map(runs.map(run => [run, mintedAt(run) ?? toldAt(dataDirectory, run)]));
  const keyOf = (run: RunId): Arrival => keys.get(run) ?? NEVER;
  // Journals may say anything: a run that is its own ancestor has as many generations as there are runs.
  const generationOf = (run: RunId, most = runs.length): number => {
    const { parent } = keyOf(run);
    return parent === undefined || most === 0 ? 0 : 1 + generationOf(parent, most - 1);
  };
  return runs.toSorted((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    return one.at - other.at || generationOf(a) - generationOf(b) || one.created - other.created || (a < b ? -1 : 1);
  });
}

interface Arrival {
  readonly at: number;
  /** Tie-breakers for equal times. */
  readonly created: number;
  readonly parent?: RunId | undefined;
}

const NEVER: Arrival = { at: 0, created: 0 };

/** The time in a UUIDv7. */
function mintedAt(run: RunId): Arrival | undefined {
  if (run.charAt(14) !== '7') return undefined;
  return { at: Number.parseInt(run.slice(0, 8) + run.slice(9, 13), 16), created: 0 };
}

function toldAt(dataDirectory: string, run: RunId): Arrival {
  const journal = journalLog(dataDirectory, run);
  let arrival = NEVER;
  for (const record of journal.ok ? journal.value.records : []) {
    const opened = openRecord(record, nodeHasher);
    if (!opened.ok) continue;
    const { header, body } = opened.value;
    const time = Date.parse(header.at);
    if (header.n === 0) {
      const origin = body.run?.kind === 'create' ? body.run.run.origin : undefined;
      arrival = { at: time, created: time, parent: origin?.kind === 'sub-plan' ? origin.run : undefined };
    }
    if (body.events?.some(event => 'type' in event && event.type === 'run.imported'))
      arrival = { ...arrival, at: time };
  }
  return arrival;
}
