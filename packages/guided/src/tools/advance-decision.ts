import { nodeHasher } from '@signalbox/journal';
import {
  canonicalJson,
  type ErrorEnvelope,
  err,
  type Json,
  ok,
  type Result,
  truncateUtf8,
  utf8Length,
} from '@signalbox/model';
import {
  type Attempt,
  type AttemptId,
  answersAt,
  blockerReportOf,
  budgets,
  type Capability,
  checkContext,
  derivePendingStep,
  enforceableStatus,
  faultReason,
  formatStepInstanceKey,
  gapsOf,
  type InterpreterFault,
  interpret,
  judgeOutput,
  type KnownCapabilities,
  loosenedBy,
  mergeContext,
  type OpenQuestion,
  type PreferenceBaselines,
  type Preferences,
  planAdvance,
  planPreferences,
  projectCapabilities,
  projectGaps,
  questionOnArrival,
  type TraceEntry,
  traceWithWarnings,
  type UserAnswer,
  type Warning,
} from '@signalbox/workflow';
import { invalidCall, onlyThePerson } from '../sessions/guided-failures.ts';
import type { SessionReader, SessionWrite } from '../sessions/session-files.ts';
import { decideCorrections } from './correction-decision.ts';
import { checkpointedFrom, type Situation } from './place-answer.ts';
import { ASSUMED } from './recorded-attempt.ts';
import type { ContinueInput, StepOutputInput } from './tool-inputs.ts';
import { unfilledOutput } from './unfilled-template.ts';
import { outputsOfTurn } from './walked-steps.ts';

/** The most bytes of an attempt's artifacts together, as canonical JSON. */
const MAX_ARTIFACT_BYTES = 1024 * 1024;

const CAPABILITIES: readonly Capability[] = ['delegation', 'web_browsing'];

type Observation = NonNullable<Attempt['capabilities']>[number];
type Outcome = Pick<Attempt, 'outcome' | 'gaps' | 'trace' | 'opens'>;

/** The outcome of an attempt at a place: advanced or blocked, with everything to record. Writes nothing. */
export function decideAdvance(
  reader: SessionReader,
  situation: Situation,
  attemptId: AttemptId,
  input: ContinueInput,
  baselines: PreferenceBaselines,
  drift: readonly { readonly code: string; readonly message: string }[] = [],
): Result<SessionWrite, ErrorEnvelope> {
  const { place, events, node, dag, state } = situation;
  const output: StepOutputInput = input.output ?? {};
  const unfilled = unfilledOutput(situation, input);
  if (unfilled !== undefined) return err(unfilled);
  const artifacts = (output.artifacts ?? []).map(value => ({ value, text: canonicalJson(value) }));
  const texts = (output.corrections ?? []).flatMap(({ artifact }) =>
    artifact === undefined ? [] : [canonicalJson(artifact)],
  );
  const bytes = [...artifacts.map(({ text }) => text), ...texts].reduce((sum, text) => sum + utf8Length(text), 0);
  if (bytes > MAX_ARTIFACT_BYTES) return tooLargeArtifacts(bytes);
  const delta = checkContext(input.context ?? {});
  if (!delta.ok) return delta;
  const context = mergeContext(situation.context, delta.value);

  const loosened = loosenedBy(situation.preferences, input.preferences ?? {});
  if (loosened.length > 0) return err(onlyThePerson('continue_workflow', loosened, situation.preferences));
  const changes = changesOf(input.preferences);
  const changed =
    changes.length === 0
      ? undefined
      : planPreferences(events, place, { attemptId, source: 'user', delta: changes, baselines });
  if (changed?.ok === false) return changed;
  const preferences: Preferences = {
    autonomy: input.preferences?.autonomy ?? situation.preferences.autonomy,
    riskPolicy: input.preferences?.riskPolicy ?? situation.preferences.riskPolicy,
  };

  const observed = observationsOf(output);
  const known = projectCapabilities(events);
  const capabilities: KnownCapabilities = Object.fromEntries(
    CAPABILITIES.map(capability => [
      capability,
      observed.findLast(each => each.capability === capability && each.provenance.enforcementGrade === 'strong')
        ?.status ?? enforceableStatus(known, dag, place.nodeId, capability),
    ]),
  );

  const corrected = decideCorrections(reader, situation, output.corrections ?? [], {
    context,
    preferences,
    capabilities,
  });
  if (!corrected.ok) return corrected;

  const pending = derivePendingStep(state);
  const blockedBy = (fault: InterpreterFault): Outcome => {
    const reasons = [faultReason(fault)] as const;
    return {
      outcome: { kind: 'blocked', blockers: blockerReportOf(reasons).blockers },
      gaps: gapsOf(reasons),
    };
  };
  const record = (made: Outcome, extra: Partial<Attempt> = {}): Result<SessionWrite, ErrorEnvelope> => {
    // A blocked agent sends the whole call again.
    const isAdvanced = made.outcome.kind === 'advanced';
    const planned = planAdvance(nodeHasher, events, node, {
      attemptId,
      ...made,
      notesMarkdown: output.notesMarkdown,
      artifacts: artifacts.map(({ text }) => ({
        sha256: nodeHasher(text),
        contentType: 'application/json',
        byteLength: utf8Length(text),
      })),
      corrections: isAdvanced ? corrected.value.corrections : [],
      ...(input.context !== undefined && { contextDelta: delta.value }),
      capabilities: [...observed, ...(extra.capabilities ?? [])],
      divergences: [...(output.divergences ?? []), ...(extra.divergences ?? [])],
    });
    if (!planned.ok) return planned;
    const { snapshots, states, plan } = planned.value;
    const before = changed?.ok === true ? changed.value.plan.events : [];
    return ok({
      planned: { snapshots, states, plan: { events: [...before, ...plan.events] } },
      artifacts: [...artifacts.map(({ text }) => text), ...(isAdvanced ? corrected.value.artifacts : [])],
    });
  };
  if (state.kind !== 'running' || pending === undefined) {
    return record(
      blockedBy({ code: 'no_pending_step', id: situation.compiled.workflowId, reason: 'no step is pending' }),
    );
  }

  const judged = judgeOutput(situation.compiled, state, {
    output: {
      notes: output.notesMarkdown,
      artifacts: artifacts.map(({ value }) => value),
      needs: output.needsFromUser,
    },
    context,
    preferences,
    capabilities,
    answers: answersOf(situation),
    open: openQuestions(reader, situation, formatStepInstanceKey(pending)),
  });
  if (!judged.ok) return record(blockedBy(judged.error));
  const judgement = judged.value;
  const extra = {
    capabilities: judgement.observed === undefined ? [] : [judgement.observed],
    divergences: assumedChoices(output, judgement.warnings, pending.stepId),
  };
  const traced = (trace: readonly TraceEntry[]) => traceWithWarnings(lasting(judgement.warnings), trace);
  if (judgement.kind === 'blocked') {
    const outcome = { kind: 'blocked', blockers: judgement.report.blockers } as const;
    return record({ outcome, gaps: judgement.gaps, trace: traced([]) }, extra);
  }
  const outputs = outputsOfTurn(reader, events, dag, place.nodeId, pending);
  if (!outputs.ok) return outputs;
  const next = interpret(
    situation.compiled,
    state,
    { kind: 'step_completed', key: formatStepInstanceKey(pending), artifacts: artifacts.map(({ value }) => value) },
    { context, outputs: outputs.value, autonomy: preferences.autonomy },
  );
  if (!next.ok) return record(blockedBy(next.error), extra);
  const trace = traced(next.value.trace);
  const gaps = [...judgement.gaps, ...next.value.gaps];
  if (next.value.kind === 'blocked') {
    return record({ outcome: { kind: 'blocked', blockers: next.value.report.blockers }, gaps, trace }, extra);
  }
  const { state: reached } = next.value;
  const opens = questionOnArrival(situation.compiled, reached, context, preferences.autonomy);
  // Drift is told with the step that follows; a blocked answer stays where it was.
  const told = traceWithWarnings(drift, trace);
  return record({ outcome: { kind: 'advanced', state: reached }, gaps, trace: told, opens }, extra);
}

/** Warnings that the trace records; choices that the agent may make are recorded as divergences. */
function lasting(warnings: readonly Warning[]): readonly Warning[] {
  return warnings.filter(({ code }) => code !== 'choice_is_assumable');
}

type PreferenceChanges = Parameters<typeof planPreferences>[2]['delta'];

export function changesOf(preferences: ContinueInput['preferences']): PreferenceChanges {
  const { autonomy, riskPolicy } = preferences ?? {};
  return [
    ...(autonomy === undefined ? [] : [{ key: 'autonomy', value: autonomy } as const]),
    ...(riskPolicy === undefined ? [] : [{ key: 'riskPolicy', value: riskPolicy } as const]),
  ];
}

/** The agent's reported observations. A tried use is strong evidence, a statement is weak. */
function observationsOf({ capabilityObservations = [] }: StepOutputInput): readonly Observation[] {
  return capabilityObservations.map((seen): Observation => {
    if (seen.kind === 'manual_claim') {
      const { capability, claimedBy, claim } = seen;
      const detail = { claimedBy, claim };
      return { capability, status: claim, provenance: { kind: seen.kind, enforcementGrade: 'weak', detail } };
    }
    const { capability, result, failureCode = 'unknown' } = seen;
    const detail =
      result === 'success'
        ? ({ attemptContext: 'workflow_step', result } as const)
        : ({ attemptContext: 'workflow_step', result, failureCode } as const);
    return {
      capability,
      status: result === 'success' ? 'available' : 'unavailable',
      provenance: { kind: seen.kind, enforcementGrade: 'strong', detail },
    };
  });
}

/** The person's answers at this place, or at the place of its checkpoint. */
function answersOf({ place, events, dag }: Situation): readonly UserAnswer[] {
  const gaps = projectGaps(events);
  return [...checkpointedFrom(dag, place), place.nodeId].flatMap(nodeId => answersAt(gaps, nodeId));
}

/** The person's open questions about a step, anywhere in the run: going back and taking another branch does not drop a question. */
function openQuestions(
  reader: SessionReader,
  { place, events, dag }: Situation,
  stepInstanceKey: string,
): readonly OpenQuestion[] {
  return projectGaps(events).flatMap(({ runId, nodeId, reason, summary, resolvedBy }) => {
    const isOpen = runId === place.runId && resolvedBy === undefined;
    const snapshotRef = dag.nodes.get(nodeId)?.snapshotRef;
    if (!isOpen || reason.category !== 'user_only_dependency' || snapshotRef === undefined) return [];
    const state = reader.state(snapshotRef);
    const pending = state.ok ? derivePendingStep(state.value) : undefined;
    const isHere = pending !== undefined && formatStepInstanceKey(pending) === stepInstanceKey;
    return isHere ? [{ reason: reason.detail, asked: summary }] : [];
  });
}

/** Choices that the agent was unsure of but may make: the record says that nobody was asked. */
function assumedChoices(
  { needsFromUser = [] }: StepOutputInput,
  warnings: readonly Warning[],
  relatedStepId: string,
): NonNullable<Attempt['divergences']> {
  if (warnings.every(({ code }) => code !== 'choice_is_assumable')) return [];
  return needsFromUser
    .filter(
      ({ reason, summary }) =>
        reason === 'needs_user_choice' && warnings.some(({ message }) => message.includes(summary)),
    )
    .map(({ summary }) => ({
      reason: 'missing_user_context',
      summary: truncateUtf8(`${ASSUMED}${summary}`, budgets.summary),
      relatedStepId,
    }));
}

function tooLargeArtifacts(measuredBytes: number) {
  const details: Json = {
    field: 'output.artifacts',
    measuredBytes,
    maxBytes: MAX_ARTIFACT_BYTES,
    method: 'RFC 8785 (JCS) UTF-8 bytes',
  };
  return {
    ok: false,
    error: invalidCall(
      `output.artifacts take ${measuredBytes} bytes; the limit is ${MAX_ARTIFACT_BYTES} (UTF-8 bytes of RFC 8785 canonical JSON).`,
      'Write large results to files and name them by path and digest in the artifact.',
      details,
    ),
  } as const;
}
