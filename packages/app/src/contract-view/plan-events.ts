import {
  type ApprovalId,
  type Artifact,
  type Digest,
  type NodeId,
  nodeKindFacts,
  type RunEvent,
  type RunId,
  type SaidEvent,
} from '@signalbox/model';
import {
  type AnyEvent,
  contractNodeId,
  type Decision,
  type NodeKey,
  type RunReader,
  type StoredEvent,
  type Task,
  type TaskId,
} from '@signalbox/runs';
import { contractTurnArtifact } from '../turns/projections/turn-artifact.ts';
import { turnOf, turnsOf } from '../turns/turn-facts.ts';
import { messageIdAfter } from './projections/contract-delta.ts';
import { besideEventOfPlan, contractEventOfPlan, type PlanFacts } from './projections/contract-event.ts';
import { proposalThen } from './proposal-then.ts';

export interface ContractStored {
  readonly event: RunEvent;
  /** Events sent before it that have no place among stored events. */
  readonly beside: readonly SaidEvent[];
  /** The head of the run's chain after the stored event. */
  readonly hash: Digest;
}

type Reads = Pick<
  RunReader,
  'run' | 'records' | 'valueAt' | 'decision' | 'task' | 'artifact' | 'artifactList' | 'stream' | 'messageBefore'
>;

/** Converts the events of one run to the contract's form, and caches its lookups. */
export function contractView(
  reader: Reads,
  run: RunId,
): (stored: readonly StoredEvent[]) => Promise<readonly ContractStored[]> {
  const nodes = new Map<string, NodeId | undefined>();

  /** Work is started only for nodes that the contract shows; other events of a node name its frame. */
  async function learnNode(node: NodeKey, frame: number | undefined): Promise<void> {
    if (nodes.has(node)) return;
    const row = frame === undefined ? undefined : await reader.valueAt(run, 'node', node, frame);
    const isShown = frame === undefined || nodeKindFacts(kindOf(row))?.provider !== undefined;
    nodes.set(node, isShown ? contractNodeId(run, node) : undefined);
  }

  /** A chunk of an agent's stream that an event derives from. */
  async function keptAt(task: TaskId, index: number): Promise<Kept | undefined> {
    const [chunk] = await reader.stream(run, task, index, 1);
    if (chunk?.index !== index) return undefined;
    const message = messageIdAfter(run, task, await reader.messageBefore(run, task, index));
    return { payload: chunk.payload, message };
  }

  /** Batch artifact lookups across turns; a single turn is looked up by its own id. */
  async function turnsEndedIn(stored: readonly StoredEvent[]): Promise<ReadonlyMap<TaskId, readonly Artifact[]>> {
    const ended = new Set(stored.flatMap(({ event }) => (event.type === 'task.ended' ? [event.task] : [])));
    const tasks: Task[] = [];
    for (const id of ended) {
      const task = await reader.task(run, id);
      if (task !== undefined) tasks.push(task);
    }
    const [first, second] = tasks;
    const found =
      first !== undefined && second === undefined
        ? await turnOf(reader, run, first)
        : await turnsOf(reader, run, tasks);
    const turns = new Map<TaskId, Artifact[]>();
    for (const artifact of found) {
      const told = contractTurnArtifact(artifact, contractNodeId(run, artifact.node));
      turns.set(artifact.task, [...(turns.get(artifact.task) ?? []), told]);
    }
    return turns;
  }

  return async stored => {
    const turns = await turnsEndedIn(stored);
    const decisions = new Map<ApprovalId, Decision>();
    const proposed = new Map<number, Decision>();
    const kept = new Map<string, Kept>();
    for (const { event } of stored) {
      const id = decisionOf(event);
      const asked = id === undefined || decisions.has(id) ? undefined : await reader.decision(id);
      if (id !== undefined && asked !== undefined) {
        decisions.set(id, asked.decision);
        await learnNode(asked.decision.node, undefined);
      }
      if ('proposalHash' in event && decisions.get(event.decision)?.proposalHash !== event.proposalHash) {
        const then = await proposalThen(reader, run, event.seq, event.decision);
        if (then !== undefined) proposed.set(event.seq, then);
      }
      const place = placeInStream(event);
      const chunk = place === undefined ? undefined : await keptAt(place.task, place.index);
      if (place !== undefined && chunk !== undefined) kept.set(`${place.task} ${place.index}`, chunk);
      if ('node' in event && event.node !== undefined) {
        await learnNode(event.node, 'frame' in event ? event.frame : undefined);
      }
    }
    const facts = {
      nodeOf: (node: string) => nodes.get(node),
      decision: (id: ApprovalId) => decisions.get(id),
      proposedIn: (seq: number) => proposed.get(seq),
      turn: (id: TaskId) => turns.get(id) ?? [],
      kept: (task: TaskId, index: number) => kept.get(`${task} ${index}`),
    };
    return stored.map(({ event, hash }) => ({
      event: contractEventOfPlan(event, facts),
      beside: besideEventOfPlan(event, facts),
      hash,
    }));
  };
}

type Kept = NonNullable<ReturnType<PlanFacts['kept']>>;

/** The place in its task's stream that has more about an event. */
function placeInStream(event: AnyEvent): { readonly task: TaskId; readonly index: number } | undefined {
  switch (event.type) {
    case 'message.said':
    case 'call.proposed':
      return event;
    case 'call.ended':
      return event.index === undefined || event.outcome === 'succeeded'
        ? undefined
        : { task: event.task, index: event.index };
    default:
      return undefined;
  }
}

function decisionOf(event: AnyEvent): ApprovalId | undefined {
  return 'decision' in event ? event.decision : undefined;
}

function kindOf(row: unknown): string {
  return typeof row === 'object' && row !== null && 'kind' in row ? String(row.kind) : '';
}
