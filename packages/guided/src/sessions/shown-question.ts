import { nodeHasher } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  type ErrorEnvelope,
  type Json,
  ok,
  parsedJson,
  type Result,
  truncateUtf8,
} from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DomainEvent,
  type EngineState,
  type Gap,
  projectNodeOutputs,
  projectRunContexts,
  projectRunDags,
  renderPrompt,
} from '@signalbox/workflow';
import type { SessionStores } from './session-stores.ts';

/** What a person sees before answering: the question, the step it is about, and what the agent proposed there. */
export interface ShownQuestion {
  readonly step: { readonly title: string; readonly prompt: string } | null;
  /** What the last blocked attempt handed in; null before there is one. */
  readonly proposed: { readonly notes: string | null; readonly artifacts: readonly string[] } | null;
  /** Binds an answer to all of this, the parts that are cut for display included. */
  readonly hash: Digest;
}

/** Where the parts of a question are read. */
export interface QuestionSources {
  state(ref: Digest): Result<EngineState, ErrorEnvelope>;
  workflow(hash: Digest): Result<CompiledWorkflowSnapshotV1, ErrorEnvelope>;
  artifact(ref: Digest): Result<Json, ErrorEnvelope>;
}

/** The same from the stores of a data directory. */
export function questionSources(stores: SessionStores): QuestionSources {
  return {
    state(ref) {
      const snapshot = stores.snapshot(ref);
      return snapshot.ok ? ok(snapshot.value.enginePayload.engineState) : snapshot;
    },
    workflow: hash => stores.workflow(hash),
    artifact(ref) {
      const text = stores.artifact(ref);
      return text.ok ? ok((parsedJson(text.value) as Json | undefined) ?? null) : text;
    },
  };
}

/** The most bytes of a prompt, and of an artifact, that are shown with a question. */
const SHOWN = { prompt: 8_192, artifact: 4_096 } as const;

/** Derives from the recorded events and from content that never changes, so that a later look at the same events is equal. */
export function shownQuestion(sources: QuestionSources, events: readonly DomainEvent[], gap: Gap): ShownQuestion {
  const { gapId, reason, summary } = gap;
  const step = stepOf(sources, events, gap);
  const given = proposedAt(events, gap);
  const notes = given.find(payload => payload.payloadKind === 'notes')?.notesMarkdown ?? null;
  const digests = given.flatMap(payload => (payload.payloadKind === 'artifact_ref' ? [payload.sha256] : []));
  const shown = { gapId, reason, summary, title: step?.title ?? null, prompt: step?.prompt ?? null, notes };
  return {
    step: step && { title: step.title, prompt: truncateUtf8(step.prompt, SHOWN.prompt) },
    proposed: given.length === 0 ? null : { notes, artifacts: digests.map(ref => artifactText(sources, ref)) },
    hash: nodeHasher(canonicalJson({ ...shown, artifacts: digests })),
  };
}

function stepOf({ state, workflow }: QuestionSources, events: readonly DomainEvent[], { runId, nodeId }: Gap) {
  const node = projectRunDags(events).get(runId)?.nodes.get(nodeId);
  const created = events.findLast(event => event.kind === 'node_created' && event.scope.nodeId === nodeId);
  if (node === undefined || created?.kind !== 'node_created') return null;
  const [compiled, engine] = [workflow(created.data.workflowHash), state(node.snapshotRef)];
  if (!compiled.ok || !engine.ok || engine.value.kind !== 'running') return null;
  const rendered = renderPrompt(compiled.value, engine.value, projectRunContexts(events).get(runId)?.context ?? {});
  return rendered.ok ? rendered.value : null;
}

/** The outputs of the last attempt from the gap's place, if it was blocked. */
function proposedAt(events: readonly DomainEvent[], { nodeId }: Gap) {
  const last = events.findLast(event => event.kind === 'advance_recorded' && event.scope.nodeId === nodeId);
  if (last?.kind !== 'advance_recorded' || last.data.outcome.kind !== 'blocked') return [];
  const history = projectNodeOutputs(events).get(nodeId)?.history ?? [];
  return history.filter(({ appendedAt }) => appendedAt > last.eventIndex).map(({ payload }) => payload);
}

function artifactText({ artifact }: QuestionSources, ref: Digest): string {
  const read = artifact(ref);
  return read.ok ? truncateUtf8(canonicalJson(read.value), SHOWN.artifact) : `${ref}, not readable`;
}
