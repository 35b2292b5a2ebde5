import { canonicalJson, type Digest, defined, type Json, type RunId } from '@signalbox/model';
import type { Frame, IntervalSpace, RunReader } from '@signalbox/runs';
import { digested } from '../frames/run-memory.ts';
import type { SourcePosition } from '../plan-error.ts';
import type { ReplayStore } from './replay-store.ts';

/** A part of a frame that differs. A side is absent if it did not exist there. */
export interface DifferentRow {
  readonly space: IntervalSpace;
  readonly key: string;
  readonly recorded?: Json;
  readonly replayed?: Json;
  /** What wrote it, if it is state: the handler and its node. */
  readonly writtenBy?: string;
  /** The author's element that it comes from. */
  readonly source?: SourcePosition;
}

/** The first frame that differs from its record. */
export interface ReplayDifference {
  readonly frame: number;
  readonly kind: /** Different nodes, statuses or state. */
    | 'frame'
    /** The render threw, or its inputs made no frame. */
    | 'render'
    /** The recorded rows do not match their own hash: the record was changed. */
    | 'record';
  readonly what: string;
  readonly recorded: Digest;
  readonly replayed?: Digest;
  readonly rows: readonly DifferentRow[];
  readonly source?: SourcePosition;
}

/** A readable number of rows. */
const MAX_ROWS = 20;

/** Describes how a frame differs from its record. */
export async function differenceOf(
  reader: RunReader,
  run: RunId,
  frame: Frame,
  store: ReplayStore,
  replayed: Digest,
): Promise<ReplayDifference> {
  const rows: DifferentRow[] = [];
  for (const space of ['state', 'node', 'status'] as const) {
    const recorded = await reader.at(run, space, frame.index);
    for (const row of differentRows(space, recorded, store.values(space))) rows.push(row);
  }
  const nodes = { recorded: await reader.at(run, 'node', frame.index), replayed: store.values('node') };
  const placed = await Promise.all(
    rows.slice(0, MAX_ROWS).map(row => withSource(reader, run, frame.index, nodes, row)),
  );
  const source = placed.find(row => row.source !== undefined)?.source;
  const isRecord = rows.length === 0;
  return {
    frame: frame.index,
    kind: isRecord ? 'record' : 'frame',
    what: isRecord
      ? 'what is kept of the frame is not what its hash is of: the record was changed'
      : `${rows.length} of what it shows came out otherwise`,
    recorded: frame.digest,
    replayed,
    rows: placed,
    ...defined({ source }),
  };
}

function differentRows(
  space: IntervalSpace,
  recorded: ReadonlyMap<string, Json>,
  replayed: ReadonlyMap<string, Json>,
): readonly DifferentRow[] {
  const keys = [...new Set([...recorded.keys(), ...replayed.keys()])].sort();
  return keys.flatMap(key => {
    const [a, b] = [recorded.get(key), replayed.get(key)];
    if (a !== undefined && b !== undefined && isSame(space, a, b)) return [];
    return [{ space, key, ...defined({ recorded: a, replayed: b }) }];
  });
}

function isSame(space: IntervalSpace, a: Json, b: Json): boolean {
  return canonicalJson(digested(space, a)) === canonicalJson(digested(space, b));
}

async function withSource(
  reader: RunReader,
  run: RunId,
  frame: number,
  nodes: { readonly recorded: ReadonlyMap<string, Json>; readonly replayed: ReadonlyMap<string, Json> },
  row: DifferentRow,
): Promise<DifferentRow> {
  const sourceOf = (node: string) => positionOf(nodes.replayed.get(node)) ?? positionOf(nodes.recorded.get(node));
  if (row.space !== 'state') {
    const source = sourceOf(row.key);
    return source === undefined ? row : { ...row, source };
  }
  const { items } = await reader.transitions(run, {
    key: row.key,
    from: { frame: Math.max(0, frame - 1), index: 0 },
  });
  // In the first frame the initial value comes before the writes of handlers.
  const written = items.findLast(one => one.frame < frame) ?? items[0];
  if (written?.node === undefined) return row;
  const source = sourceOf(written.node);
  const writtenBy = `${written.handler ?? 'code'} of ${written.node}`;
  return { ...row, writtenBy, ...defined({ source }) };
}

function positionOf(row: Json | undefined): SourcePosition | undefined {
  const { source } = (row ?? {}) as { readonly source?: SourcePosition };
  return source;
}
