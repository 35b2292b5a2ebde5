import {
  type Clock,
  type ErrorEnvelope,
  err,
  type Json,
  ok,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import {
  type AnyEvent,
  eventsOf,
  type RunReader,
  type RunRecord,
  type TransitionView,
  transitionsIn,
} from '@signalbox/runs';
import { unknownRun } from '../host/run-failures.ts';
import type { BranchFact, BranchTurn, NodeFact, StatusFact, WhyAnswer, WhyFacts } from './projections/why-facts.ts';
import { whyNode } from './projections/why-node.ts';
import { whyRun } from './projections/why-run.ts';

/** Why a run, or a node of it, is in its state: as text, from commits alone. */
export async function why(
  reader: RunReader,
  run: RunId,
  node: string | undefined,
  clock: Clock,
): Promise<Result<readonly WhyAnswer[], ErrorEnvelope>> {
  const record = await reader.run(run);
  if (record === undefined) return err(unknownRun(run));
  const facts = await factsOf(reader, record, clock);
  if (node === undefined) return ok(whyRun(facts));
  return ok(whyNode({ ...facts, branches: await branchesOf(reader, record, facts, node) }, node));
}

async function factsOf(reader: RunReader, run: RunRecord, clock: Clock): Promise<WhyFacts> {
  const events: AnyEvent[] = [];
  for await (const event of eventsOf(reader, run.id)) events.push(event);
  const decisions = await reader.decisions({ run: run.id });
  const children = await reader.children(run.id);
  return {
    now: timestampOf(clock),
    run,
    events,
    tasks: await reader.tasks(run.id),
    decisions: decisions.map(({ decision }) => decision),
    // They were validated when they were written.
    nodes: (await reader.at(run.id, 'node', run.frames)) as unknown as ReadonlyMap<string, NodeFact>,
    statuses: (await reader.at(run.id, 'status', run.frames)) as unknown as ReadonlyMap<string, StatusFact>,
    children: children.filter(({ origin }) => origin?.kind === 'sub-plan'),
    branches: [],
  };
}

/** The node itself if it is a branch, and the branches around it. */
async function branchesOf(
  reader: RunReader,
  run: RunRecord,
  { nodes }: WhyFacts,
  node: string,
): Promise<readonly BranchFact[]> {
  const found: BranchFact[] = [];
  let isTaken: boolean | undefined;
  for (let at: string | undefined = node; at !== undefined; at = nodes.get(at)?.parent) {
    const fact = nodes.get(at);
    if (fact?.kind === 'branch') isTaken = fact.data.taken === true;
    if (fact?.kind !== 'if' && fact?.kind !== 'switch') continue;
    const value = valueIn(fact) ?? null;
    found.push({
      node: at,
      kind: fact.kind,
      value,
      isTaken: at === node ? undefined : isTaken,
      since: await turnOf(reader, run, at, value),
    });
  }
  return found;
}

/** How many frames are searched: each is a read. */
const MAX_LOOK = 2000;

/** The frame in which a branch took its current way. */
async function turnOf(reader: RunReader, run: RunRecord, node: string, value: Json): Promise<BranchTurn | undefined> {
  const gone = run.collected ?? [];
  for (let frame = run.frames - 1; frame >= Math.max(0, run.frames - MAX_LOOK); frame--) {
    const before = frame === 0 ? undefined : valueIn(await reader.valueAt(run.id, 'node', node, frame - 1));
    if (gone.some(({ from, to }) => frame - 1 >= from && frame - 1 <= to)) return undefined;
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(value)) continue;
    const read = new Set((await reader.at(run.id, 'read', frame)).keys());
    const changes = frame === 0 ? [] : (await changesOf(reader, run.id, frame - 1)).filter(({ key }) => read.has(key));
    const made = await reader.frame(run.id, frame);
    return { frame, before, changes, trigger: made?.trigger };
  }
  return undefined;
}

function valueIn(row: unknown): Json | undefined {
  const { kind, data } = (row ?? {}) as Partial<NodeFact>;
  return kind === 'if' ? data?.condition : kind === 'switch' ? data?.value : undefined;
}

/** What the flush of a frame wrote: the next one shows it. */
async function changesOf(reader: RunReader, run: RunId, frame: number): Promise<readonly TransitionView[]> {
  const changes: TransitionView[] = [];
  for await (const change of transitionsIn(reader, run, frame)) changes.push(change);
  return changes;
}
