/**
 * The answer about a place. It derives from recorded events, stored snapshots and pinned workflows alone, so that a repeated answer from
 * the same events is equal byte for byte.
 */
import { defined, type ErrorEnvelope, err, type JsonObject, ok, type Result } from '@signalbox/model';
import {
  type Blocker,
  type Capability,
  type CompiledStep,
  type CompiledWorkflowSnapshotV1,
  capabilityAt,
  type DomainEvent,
  type EngineState,
  type EventOf,
  isUnresolved,
  nextAttemptId,
  nextCheckpointId,
  nextIntentOf,
  outputTemplate,
  type Place,
  type PreferenceBaselines,
  type Preferences,
  preferencesAt,
  projectCapabilities,
  projectGaps,
  projectPreferences,
  projectRunContexts,
  projectRunDags,
  type RunDag,
  reasonCodeOf,
  recommendationWarnings,
  recordedWarnings,
  renderPrompt,
} from '@signalbox/workflow';
import { contradiction, faultOf, invalidCall } from '../sessions/guided-failures.ts';
import type { SessionReader, Tokens } from '../sessions/session-files.ts';
import { ASSUMED, attemptEvents } from './recorded-attempt.ts';
import type { NextCall, StepAnswer, Warning } from './tool-answers.ts';
import { lastHandedIn, recoveryAt } from './walked-steps.ts';

/** A place with everything known about it. */
export interface Situation {
  readonly place: Place;
  readonly events: readonly DomainEvent[];
  readonly node: EventOf<'node_created'>;
  readonly dag: RunDag;
  readonly compiled: CompiledWorkflowSnapshotV1;
  readonly state: EngineState;
  readonly preferences: Preferences;
  readonly context: JsonObject;
}

/** `events` end at the time of the answer: later ones are ignored. */
export function situationAt(
  reader: SessionReader,
  events: readonly DomainEvent[],
  place: Place,
  baselines: PreferenceBaselines,
): Result<Situation, ErrorEnvelope> {
  const { sessionId, runId, nodeId } = place;
  const node = events.findLast(event => event.kind === 'node_created' && event.scope.nodeId === nodeId);
  const dag = projectRunDags(events).get(runId);
  if (node?.kind !== 'node_created' || dag === undefined) {
    return err(contradiction(sessionId, `node ${nodeId} of run ${runId} is not recorded`));
  }
  const compiled = reader.workflow(node.data.workflowHash);
  if (!compiled.ok) return compiled;
  const state = reader.state(node.data.snapshotRef);
  if (!state.ok) return state;
  return ok({
    place,
    events,
    node,
    dag,
    compiled: compiled.value,
    state: state.value,
    preferences: preferencesAt(projectPreferences(events), dag, nodeId, baselines),
    context: projectRunContexts(events).get(runId)?.context ?? {},
  });
}

export type Shown =
  | { readonly kind: 'step'; readonly told?: readonly Warning[] }
  /** In the middle of a walk: what most agents never use is left out, and a rehydrate has it. */
  | { readonly kind: 'advanced'; readonly told?: readonly Warning[] }
  /** For an agent that may have lost the conversation. */
  | {
      readonly kind: 'recovered';
      readonly told: readonly Warning[];
      /** Outputs to show whole. */
      readonly outputIds?: readonly string[] | undefined;
    }
  | { readonly kind: 'blocked'; readonly blockers: readonly Blocker[]; readonly told?: readonly Warning[] };

export function placeAnswer(
  reader: SessionReader,
  tokens: Tokens,
  situation: Situation,
  shown: Shown,
): Result<StepAnswer, ErrorEnvelope> {
  const { place, events, node, compiled, state, preferences, context } = situation;
  const { workflowHash } = node.data;
  const { workflowId, name } = compiled;
  const pending = shownStep(reader, situation, shown.kind);
  if (!pending.ok) return pending;
  const isComplete = state.kind === 'complete';
  const stateToken = tokens.mint({ tokenKind: 'state', ...place, workflowHash });
  const canGoOn = pending.value !== null && shown.kind !== 'blocked';
  const ackToken = canGoOn
    ? tokens.mint({ tokenKind: 'ack', ...place, attemptId: nextAttemptId(events, place) })
    : undefined;
  const checkpointToken =
    canGoOn && shown.kind !== 'advanced'
      ? tokens.mint({ tokenKind: 'checkpoint', ...place, attemptId: nextCheckpointId(events, place) })
      : undefined;
  // An agent in the middle of a walk has just handed them in; one that lost the conversation has not.
  const outputs =
    shown.kind === 'recovered'
      ? lastHandedIn(reader, events, situation.dag, place.nodeId, shown.outputIds)
      : ok<readonly never[]>([]);
  if (!outputs.ok) return outputs;
  if ('unknown' in outputs.value) return err(unknownOutput(outputs.value.unknown));
  const intent = nextIntentOf(compiled, state, context, preferences.autonomy);
  const decision = decisionAt(situation);
  const open = projectGaps(events).filter(gap => gap.runId === place.runId && isUnresolved(gap));
  return ok({
    kind: shown.kind === 'blocked' ? 'blocked' : 'ok',
    workflow: { workflowId, name, workflowHash },
    ...place,
    stateToken,
    ...defined({ ackToken, checkpointToken }),
    isComplete,
    pending: pending.value?.shown ?? null,
    nextIntent:
      intent === 'await_user_confirmation' && decision?.status === 'approved'
        ? 'perform_pending_then_continue'
        : intent,
    ...defined({ decision }),
    nextCall: nextCallAt(compiled, stateToken, ackToken, pending.value?.step, isComplete),
    preferences: { autonomy: preferences.autonomy, riskPolicy: preferences.riskPolicy },
    gaps: open.slice(-MAX_GAPS).map(({ gapId, severity, reason, summary }) => ({
      gapId,
      severity,
      reason: reasonCodeOf(reason),
      summary,
    })),
    omittedGaps: Math.max(0, open.length - MAX_GAPS),
    warnings: distinctWarnings([...warningsAt(situation), ...(shown.told ?? [])]),
    ...(outputs.value.length > 0 && { outputs: [...outputs.value] }),
    blockers: shown.kind === 'blocked' ? shown.blockers.map(blocker => ({ ...blocker })) : [],
  });
}

function unknownOutput(outputId: string) {
  return invalidCall(
    `continue_workflow: outputIds has ${outputId}, which is no output on the way here.`,
    'Rehydrate without outputIds: "outputs" of the answer lists the ids.',
    { field: 'outputIds' },
  );
}

/** The last question about the approval of the pending step, and its answer. */
function decisionAt({ place, events, dag }: Situation): StepAnswer['decision'] {
  const places = new Set([place.nodeId, ...checkpointedFrom(dag, place)]);
  const gap = projectGaps(events).findLast(
    ({ nodeId, reason }) =>
      places.has(nodeId) && reason.category === 'user_only_dependency' && reason.detail === 'needs_user_approval',
  );
  if (gap === undefined) return undefined;
  const { gapId, answer } = gap;
  const note = answer?.kind === 'answered' ? answer.value : answer?.note;
  return {
    decisionId: gapId,
    status: answer === undefined ? 'open' : answer.kind === 'denied' ? 'denied' : 'approved',
    ...defined({ note }),
    answerWith: `signalbox approve ${gapId}`,
    consolePath: `/queue?decision=${gapId}`,
  };
}

/** How many gaps one answer lists. */
const MAX_GAPS = 20;

interface PendingStep {
  readonly step: CompiledStep;
  readonly shown: NonNullable<StepAnswer['pending']>;
}

function shownStep(
  reader: SessionReader,
  { place, events, dag, compiled, state, context }: Situation,
  kind: Shown['kind'],
): Result<PendingStep | null, ErrorEnvelope> {
  if (state.kind !== 'running' || state.pending.kind === 'none') return ok(null);
  const recovery = kind === 'recovered' ? recoveryAt(reader, events, dag, compiled, place.nodeId) : undefined;
  if (recovery?.ok === false) return recovery;
  const rendered = renderPrompt(compiled, state, context, recovery?.value);
  if (!rendered.ok) return err(faultOf(place.sessionId, rendered.error));
  const { key, stepId, title, prompt } = rendered.value;
  const step = compiled.steps.find(each => each.stepId === stepId);
  if (step === undefined) return err(contradiction(place.sessionId, `its workflow has no step ${stepId}`));
  const provenance = { ...step.provenance };
  return ok({
    step,
    shown: { stepId, stepInstanceKey: key, title, prompt: kind === 'blocked' ? SAME_PROMPT : prompt, provenance },
  });
}

/** An agent whose attempt was blocked has the prompt, and needs the call that shows it again. */
const SAME_PROMPT = 'The prompt is the same as before; nextCall shows it again.';

/** The next call as a template: everything that the agent decides or writes is in angle brackets, and refused if it stays there. */
function nextCallAt(
  compiled: CompiledWorkflowSnapshotV1,
  stateToken: string,
  ackToken: string | undefined,
  step: CompiledStep | undefined,
  isComplete: boolean,
): NextCall | null {
  if (isComplete) return null;
  const { workflowId } = compiled;
  if (ackToken === undefined || step === undefined) {
    return { tool: 'continue_workflow', arguments: { intent: 'rehydrate', workflowId, stateToken } };
  }
  const { notesMarkdown, artifacts } = outputTemplate(compiled, step);
  const output = { notesMarkdown, ...(artifacts !== undefined && { artifacts: [...artifacts] }) };
  return { tool: 'continue_workflow', arguments: { intent: 'advance', workflowId, ackToken, output } };
}

/** The warnings at a place, from the record. */
function warningsAt({ place, events, dag, compiled, preferences, state }: Situation): readonly Warning[] {
  const capabilities = projectCapabilities(events);
  const statusOf = (capability: Capability) => capabilityAt(capabilities, dag, place.nodeId, capability)?.status;
  const places = new Set([place.nodeId, ...checkpointedFrom(dag, place)]);
  return [
    ...recommendationWarnings(compiled, preferences),
    ...compiled.capabilities.preferred
      .filter(capability => statusOf(capability) === 'unavailable')
      .map(capability => ({
        code: 'preferred_capability_missing',
        message: `${capability} would help here and is not available; go on without it and say so in your notes.`,
      })),
    ...projectGaps(events).flatMap(({ nodeId, answer, summary }) =>
      answer !== undefined && places.has(nodeId)
        ? [{ code: 'user_answered', message: `The person was asked: ${summary} The answer: ${answerText(answer)}` }]
        : [],
    ),
    ...(state.kind === 'complete' ? completion(events, place) : []),
    ...assumptions(events, place),
    ...recordedHere(events, place),
  ];
}

/** What was recorded and still holds is told once; so is the drift of several runs of one workflow. */
export function distinctWarnings(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map(warning => [warning.message, warning])).values()];
}

/** Warnings recorded with the attempt that led here, which nothing else shows. */
function recordedHere(events: readonly DomainEvent[], place: Place): readonly Warning[] {
  return attemptEvents(events, place)
    .flatMap(event => (event.kind === 'decision_trace_appended' ? recordedWarnings(event.data.entries) : []))
    .filter(({ code }) => code === 'loop_decision_ignored' || code === 'pinned_drift');
}

function answerText(answer: NonNullable<ReturnType<typeof projectGaps>[number]['answer']>): string {
  if (answer.kind === 'answered') return answer.value;
  return answer.note === undefined ? `${answer.kind}.` : `${answer.kind}: ${answer.note}`;
}

/** The places that a checkpoint stands for: its own and those it was made at. */
export function checkpointedFrom(dag: RunDag, place: Place): readonly Place['nodeId'][] {
  const from: Place['nodeId'][] = [];
  let node = dag.nodes.get(place.nodeId);
  while (node?.nodeKind === 'checkpoint' && node.parentNodeId !== null) {
    from.push(node.parentNodeId);
    node = dag.nodes.get(node.parentNodeId);
  }
  return from;
}

/** Why nothing is left to do, as decided when the last step was handed in. */
function completion(events: readonly DomainEvent[], place: Place): readonly Warning[] {
  const trace = attemptEvents(events, place).findLast(event => event.kind === 'decision_trace_appended');
  const said = trace?.kind === 'decision_trace_appended' ? trace.data.entries.at(-1)?.summary : undefined;
  return said === undefined ? [] : [{ code: 'workflow_complete', message: said }];
}

function assumptions(events: readonly DomainEvent[], place: Place): readonly Warning[] {
  return attemptEvents(events, place).flatMap(event =>
    event.kind === 'divergence_recorded' && event.data.summary.startsWith(ASSUMED)
      ? [
          {
            code: 'choice_is_assumable',
            message: `This choice was yours to make: assume what fits best and say so in your notes. ${event.data.summary}`,
          },
        ]
      : [],
  );
}
