/**
 * The one mapping from internal events to those of the contract (R20).
 *
 * 1. Total: every kind of event, of plans and of guided sessions, has exactly one event of the contract. A kind without one does not
 *    compile.
 * 2. In place: it has the id, the run, the `seq` and the time of the original event, so a reader resumes by `seq` in either form.
 * 3. The end of an agent's turn brings its derived artifacts (`besideEventOfPlan`). They are not events of the run: they are sent between
 *    the previous event and the one that they belong to, and a reader that resumes by `seq` may get them again, but never misses them.
 * 4. An event without a counterpart in the contract is a `node.progress` with text if it concerns a node that the contract shows, and
 *    otherwise a `run.patch` that only says that the run changed.
 */

import {
  answerOfGap,
  approvalOfGap,
  type GuidedFacts,
  guidedArtifact,
  guidedEdge,
  guidedNodeFields,
  toolOfGap,
} from '@signalbox/guided/contract';
import {
  type ApprovalId,
  type ApprovalResolution,
  type Artifact,
  canonicalJson,
  deriveId,
  type EventId,
  type GlobalMode,
  type Json,
  type MessageId,
  type NodeId,
  type NodePatch,
  RUN_EVENT_VERSION,
  type RunEvent,
  type RunId,
  type RunPatch,
  type SaidEvent,
  shortPlace,
  type ThrownPlace,
  type Timestamp,
  type ToolId,
  toContractNodeStatus,
  toContractRunStatus,
  truncateUtf8,
  unreachable,
} from '@signalbox/model';
import type { AnyEvent, Decision, InternalEvent, TaskError, TaskId } from '@signalbox/runs';
import type { DomainEvent, EventOf } from '@signalbox/workflow/events';
import { errorOfCall, inputOfCall, textOfAnswer } from './agent-words.ts';
import { contractResolution, toolIdOf, toolOfDecision, wordsOfProposal } from './decision-tool.ts';

/** Facts that the events of a plan lack. */
export interface PlanFacts {
  /** The contract's name of a node; undefined if the contract does not show it. */
  nodeOf(node: string): NodeId | undefined;
  decision(decision: ApprovalId): Decision | undefined;
  /** The decision of an event as proposed then, if the proposal has changed since. */
  proposedIn(seq: number): Decision | undefined;
  /** The derived artifacts of an agent's ended turn that were not stored; empty for other work. */
  turn(task: TaskId): readonly Artifact[];
  /** The stored content at a place of a task's stream, and the message that it completes. */
  kept(task: TaskId, index: number): { readonly payload: Json; readonly message: MessageId } | undefined;
}

/** The contract's own events are returned unchanged. */
export function contractEventOfPlan(event: AnyEvent, facts: PlanFacts): RunEvent {
  if (isContractEvent(event)) return event;
  const told = tellers({ id: event.id, runId: event.runId, seq: event.seq, ts: event.ts });
  const progress = (node: string | undefined, summary: string) =>
    told.progress(node === undefined ? undefined : facts.nodeOf(node), summary);
  switch (event.type) {
    case 'run.created':
      return told.patch({ phase: 'BOOT', mode: event.driver === 'workflow' ? 'INTERACTIVE' : 'AUTO' });
    case 'run.status':
      return told.patch(toContractRunStatus(event.to, event.stopReason));
    case 'run.claimed':
    case 'run.resumed':
    case 'run.held':
    case 'run.forked':
    case 'run.kept':
    case 'run.collapsed':
    case 'run.redacted':
    case 'event.gone':
    case 'run.imported':
    case 'frame.committed':
    case 'state.edited':
      return told.patch({});
    case 'node.status':
      return told.node(facts.nodeOf(event.node), {
        status: toContractNodeStatus(event.to),
        summary: event.blockReason === undefined ? event.to : cut(`${event.to}: ${event.blockReason}`),
        lastActivityAt: event.ts,
      });
    case 'state.changed':
      return progress(event.node, `wrote ${event.key}`);
    case 'task.started':
      return progress(event.node, `attempt ${event.attempt} began`);
    case 'task.progressed':
      return progress(event.node, wordsOf(event.detail));
    case 'task.ended': {
      const diff = diffInPlace(event, facts);
      if (diff !== undefined) return told.artifact(diff);
      return progress(
        event.node,
        event.error === undefined ? event.outcome : `${event.outcome}: ${failureWords(event.error)}`,
      );
    }
    case 'task.retry':
      return progress(event.node, `will be retried at ${event.retryAt}: ${failureWords(event.error)}`);
    case 'task.orphaned':
      return progress(event.node, `lost its process: ${event.action}`);
    case 'handler.ran':
      return progress(event.node, `${event.handler} ran`);
    case 'handler.failed':
      return progress(event.node, `${event.handler} failed: ${event.error}${atPlace(event.thrown)}`);
    case 'effect.ran':
      return progress(event.node, `effect ${event.effect} ran`);
    case 'effect.cleaned':
      return progress(event.node, `effect ${event.effect} was cleaned up`);
    case 'effect.failed':
      return progress(event.node, `effect ${event.effect} failed: ${event.error}${atPlace(event.thrown)}`);
    case 'file.written':
      return progress(event.node, `wrote ${event.path}`);
    case 'decision.asked':
    case 'decision.proposed':
      return requested(told, facts, event);
    case 'decision.answered':
      return told.resolved(event.decision, contractResolution(event.resolution));
    case 'decision.withdrawn':
      // The answer is no longer needed: for lists of open decisions, that is a denial.
      return told.resolved(event.decision, { status: 'denied' });
    case 'decision.delivered':
      return progress(facts.decision(event.decision)?.node, 'was answered');
    case 'signal.received':
      return told.userMessage(`${event.name} ${canonicalJson(event.payload)}`);
    case 'operator.acted':
      return progress(event.node, `${event.by} asked for ${event.action}`);
    case 'node.policy':
      return progress(event.node, `${event.by} changed its retry rules`);
    case 'message.said': {
      const kept = facts.kept(event.task, event.index);
      return told.said(facts.nodeOf(event.node), kept?.message, textOfAnswer(kept?.payload));
    }
    case 'call.proposed': {
      const tool = { id: toolIdOf(event.runId, event.call), name: event.tool || 'tool' };
      return told.toolProposed(facts.nodeOf(event.node), {
        ...tool,
        args: inputOfCall(facts.kept(event.task, event.index)?.payload),
      });
    }
    case 'call.began':
      return told.toolStarted(facts.nodeOf(event.node), toolIdOf(event.runId, event.call));
    case 'call.ended': {
      const { outcome, index, task, tool } = event;
      const kept = index === undefined ? undefined : facts.kept(task, index)?.payload;
      const error = outcome === 'succeeded' ? undefined : (errorOfCall(kept) ?? `${tool}: ${outcome}`);
      return told.toolCompleted(facts.nodeOf(event.node), toolIdOf(event.runId, event.call), error);
    }
    case 'call.undone':
      return progress(
        event.node,
        event.kept === true ? `${event.by} restored files kept by ${event.tool}` : `${event.by} undid ${event.tool}`,
      );
    case 'run.rolled_back': {
      const side = event.after === true ? 'after' : 'before';
      return progress(event.node, `${event.by} rolled back to ${side} ${event.tool}; continues as run ${event.fork}`);
    }
    case 'usage.recorded':
      return progress(event.node, 'used a model');
    case 'model.called':
      return progress(event.node, `called ${event.provider}:${event.model}`);
    case 'model.answered':
      return progress(event.node, `${event.provider}:${event.model}: ${event.outcome}`);
    case 'model.refused':
      return progress(event.node, `was refused a call of ${event.provider}:${event.model}`);
    default:
      return unreachable(event);
  }
}

/** Messages sent before an event of a plan that are not events themselves. */
export function besideEventOfPlan(event: AnyEvent, facts: PlanFacts): readonly SaidEvent[] {
  if (event.type !== 'task.ended') return [];
  const { runId, ts, seq } = event;
  const inPlace = diffInPlace(event, facts);
  return facts
    .turn(event.task)
    .filter(artifact => artifact.id !== inPlace?.id)
    .map((artifact, offset) => ({
      v: RUN_EVENT_VERSION,
      id: deriveId<EventId>('artifact-created', artifact.id),
      runId,
      ts,
      after: seq - 1,
      offset,
      type: 'artifact.created',
      nodeId: artifact.nodeId,
      artifact,
    }));
}

/** The diff reports a completed turn; the status of its node says that it is done. */
function diffInPlace(
  { outcome, task }: Extract<InternalEvent, { readonly type: 'task.ended' }>,
  facts: PlanFacts,
): Artifact | undefined {
  return outcome === 'done' ? facts.turn(task).find(({ kind }) => kind === 'diff') : undefined;
}

/** An event of the whole session has another id in each run, so that ids are unique. */
export function contractEventOfGuided(event: DomainEvent, facts: GuidedFacts): RunEvent {
  const { run, seq, at } = facts;
  const scope = 'scope' in event ? event.scope : undefined;
  const id = scope === undefined ? deriveId<EventId>('guided-event', run, event.eventId) : event.eventId;
  const told = tellers({ id, runId: run, seq, ts: at });
  switch (event.kind) {
    case 'session_created':
      return told.mode('INTERACTIVE', 'IMPLEMENTATION');
    case 'run_started':
      return told.patch({ status: 'running', phase: 'EXECUTE', mode: 'INTERACTIVE', globalMode: 'IMPLEMENTATION' });
    case 'node_created': {
      const step = facts.stepAt(event.scope.nodeId);
      if (step === 'complete') return told.phase('DONE');
      const { nodeKind: kind } = event.data;
      const isStep = kind !== 'checkpoint';
      return told.node(
        event.scope.nodeId,
        guidedNodeFields({
          kind,
          label: step?.title ?? kind,
          status: isStep ? 'running' : 'idle',
          summary: isStep ? 'pending' : 'a checkpoint',
          at,
        }),
      );
    }
    case 'edge_created': {
      const { fromNodeId, toNodeId, edgeKind } = event.data;
      if (facts.stepAt(toNodeId) === 'complete') return told.patch({ status: 'completed', phase: 'DONE' });
      return told.edge(guidedEdge(run, fromNodeId, toNodeId, edgeKind));
    }
    case 'advance_recorded': {
      const { outcome } = event.data;
      return told.node(
        event.scope.nodeId,
        outcome.kind === 'advanced'
          ? { status: 'idle', summary: 'done', lastActivityAt: at }
          : {
              status: 'blocked',
              summary: cut(outcome.blockers.blockers.map(({ message }) => message).join(' ')),
              lastActivityAt: at,
            },
      );
    }
    case 'node_output_appended': {
      const { outputId, payload } = event.data;
      const { nodeId } = event.scope;
      return payload.payloadKind === 'notes'
        ? told.said(nodeId, deriveId<MessageId>('guided-note', outputId), payload.notesMarkdown)
        : told.artifact(guidedArtifact(run, nodeId, outputId, payload, at));
    }
    case 'preferences_changed':
      return told.progress(
        event.scope.nodeId,
        `preferences: ${event.data.delta.map(({ key, value }) => `${key} ${value}`).join(', ')}`,
      );
    case 'capability_observed':
      return told.progress(event.scope.nodeId, `${event.data.capability} is ${event.data.status}`);
    case 'observation_recorded':
      return told.progress(event.scope?.nodeId, `saw ${event.data.key} ${event.data.value.value}`);
    case 'gap_recorded':
      return gapEvent(told, event);
    case 'divergence_recorded':
      return told.progress(event.scope.nodeId, `${event.data.reason}: ${event.data.summary}`);
    case 'decision_trace_appended':
      return told.progress(event.scope.nodeId, event.data.entries.map(({ summary }) => summary).join(' '));
    case 'context_set':
      return told.patch({});
    default:
      return unreachable(event);
  }
}

/** A question to the person is an approval; any other gap is news of its node. */
function gapEvent(told: Tellers, { scope, data }: EventOf<'gap_recorded'>): RunEvent {
  const { gapId, reason, summary, resolution, answer } = data;
  if (reason.category !== 'user_only_dependency') return told.progress(scope.nodeId, summary);
  if (resolution.kind === 'unresolved') {
    const tool = toolOfGap({ gapId, detail: reason.detail, summary });
    return told.requested(scope.nodeId, { approvalId: approvalOfGap(gapId), tool, context: summary });
  }
  return told.resolved(approvalOfGap(resolution.resolvesGapId), answerOfGap(answer));
}

/** Avoids showing the current proposal as if it had been asked then. */
function requested(
  told: Tellers,
  facts: PlanFacts,
  event: Extract<InternalEvent, { readonly type: 'decision.asked' | 'decision.proposed' }>,
): RunEvent {
  const decision = facts.proposedIn(event.seq) ?? facts.decision(event.decision);
  if (decision === undefined) return told.patch({});
  const isAsShown = decision.proposalHash === event.proposalHash;
  const proposal = isAsShown ? decision.proposal : {};
  const context = isAsShown ? wordsOfProposal(proposal) : 'the proposal has changed since';
  return told.requested(facts.nodeOf(decision.node), {
    approvalId: event.decision,
    tool: toolOfDecision(event.runId, { ...decision, proposal }),
    ...(context !== undefined && { context }),
  });
}

type Tellers = ReturnType<typeof tellers>;
type Fields<Type extends RunEvent['type']> = Omit<
  Extract<RunEvent, { readonly type: Type }>,
  'v' | 'id' | 'runId' | 'seq' | 'ts' | 'type' | 'nodeId'
>;

interface Place {
  readonly id: EventId;
  readonly runId: RunId;
  readonly seq: number;
  readonly ts: Timestamp;
}

/** The contract's events at one place. For a node that the contract does not show, it only reports that the run changed. */
function tellers(place: Place) {
  const head = { v: RUN_EVENT_VERSION, ...place } as const;
  const { runId, ts } = place;
  const patch = (given: RunPatch): RunEvent => ({ ...head, type: 'run.patch', patch: { ...given, updatedAt: ts } });
  const of = (nodeId: NodeId | undefined, tell: (nodeId: NodeId) => RunEvent) =>
    nodeId === undefined ? patch({}) : tell(nodeId);
  return {
    patch,
    mode: (mode: Fields<'run.mode'>['mode'], globalMode: GlobalMode): RunEvent => ({
      ...head,
      type: 'run.mode',
      mode,
      globalMode,
    }),
    phase: (phase: Fields<'run.phase'>['phase']): RunEvent => ({ ...head, type: 'run.phase', phase }),
    node: (node: NodeId | undefined, given: NodePatch) =>
      of(node, nodeId => ({ ...head, type: 'node.patch', nodeId, patch: given })),
    progress: (node: NodeId | undefined, summary: string) =>
      of(node, nodeId => ({ ...head, type: 'node.progress', nodeId, summary: cut(summary) })),
    edge: (edge: Fields<'edge.created'>['edge']): RunEvent => ({ ...head, type: 'edge.created', edge }),
    artifact: (artifact: Fields<'artifact.created'>['artifact']): RunEvent => ({
      ...head,
      type: 'artifact.created',
      nodeId: artifact.nodeId,
      artifact,
    }),
    requested: (node: NodeId | undefined, asked: Fields<'approval.requested'>) =>
      of(node, nodeId => ({ ...head, type: 'approval.requested', nodeId, ...asked })),
    resolved: (approvalId: ApprovalId, resolution: ApprovalResolution): RunEvent => ({
      ...head,
      type: 'approval.resolved',
      approvalId,
      resolution,
    }),
    userMessage: (content: string): RunEvent => ({
      ...head,
      type: 'message.user',
      message: {
        id: deriveId<MessageId>('signal', place.id),
        runId,
        role: 'user',
        content: truncateUtf8(content, MESSAGE_MAX_BYTES),
        interrupt: false,
        createdAt: ts,
      },
    }),
    /** A message that no longer exists has a derived id. */
    said: (node: NodeId | undefined, id = deriveId<MessageId>('said', place.id), content: string) =>
      of(node, nodeId => ({
        ...head,
        type: 'message.assistant.final',
        nodeId,
        message: { id, runId, nodeId, role: 'assistant', content, interrupt: false, createdAt: ts },
      })),
    toolProposed: (node: NodeId | undefined, tool: Fields<'tool.proposed'>['tool']) =>
      of(node, nodeId => ({ ...head, type: 'tool.proposed', nodeId, tool })),
    toolStarted: (node: NodeId | undefined, toolId: ToolId) =>
      of(node, nodeId => ({ ...head, type: 'tool.started', nodeId, toolId })),
    toolCompleted: (node: NodeId | undefined, toolId: ToolId, error: string | undefined) =>
      of(node, nodeId => ({
        ...head,
        type: 'tool.completed',
        nodeId,
        toolId,
        result: { ok: error === undefined },
        ...(error !== undefined && { error: { message: error } }),
      })),
  };
}

/** Types that only the contract has; no internal event shares one. */
const contractTypes: Readonly<Record<RunEvent['type'], true>> = {
  'run.patch': true,
  'run.phase': true,
  'run.mode': true,
  'run.stalled': true,
  'node.patch': true,
  'node.progress': true,
  'edge.created': true,
  'edge.deleted': true,
  'handoff.sent': true,
  'message.user': true,
  'message.assistant.delta': true,
  'message.assistant.final': true,
  'tool.proposed': true,
  'tool.started': true,
  'tool.completed': true,
  'approval.requested': true,
  'approval.resolved': true,
  'artifact.created': true,
};

function isContractEvent(event: AnyEvent): event is RunEvent {
  return Object.hasOwn(contractTypes, event.type);
}

const SUMMARY_MAX_BYTES = 512;
const MESSAGE_MAX_BYTES = 65_536;

function failureWords({ message, thrown }: TaskError): string {
  return `${message}${atPlace(thrown)}`;
}

function atPlace(thrown: ThrownPlace | undefined): string {
  return thrown === undefined ? '' : ` (${shortPlace(thrown)})`;
}

function cut(words: string): string {
  return truncateUtf8(words, SUMMARY_MAX_BYTES);
}

function wordsOf(detail: Json): string {
  if (typeof detail === 'string') return detail;
  const words = typeof detail === 'object' && detail !== null && 'message' in detail ? detail.message : undefined;
  return typeof words === 'string' ? words : canonicalJson(detail);
}
