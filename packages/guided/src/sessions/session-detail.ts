import { type Defect, nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  type NodeId,
  ok,
  type Result,
  type SessionId,
  type Timestamp,
  timestampOf,
  truncateUtf8,
} from '@signalbox/model';
import {
  artifactsInto,
  type Blocker,
  type DomainEvent,
  derivePendingStep,
  formatStepInstanceKey,
  type Gap,
  type NodeOutput,
  type NodeView,
  notesInto,
  openWorkflowLibrary,
  projectGaps,
  projectNodeOutputs,
  projectObservations,
  projectRunDags,
  projectSession,
  type RunView,
  type SessionHealth,
  type WorkflowLibrary,
  type WorkflowPlace,
} from '@signalbox/workflow';
import { lastActive } from '../retention/retained-journals.ts';
import { unknownSession } from './find-session.ts';
import { isKept } from './session-keeping.ts';
import { openSessionStores, type SessionStores, type SessionStoresOptions } from './session-stores.ts';
import { questionSources, shownQuestion } from './shown-question.ts';

export interface DetailOptions extends SessionStoresOptions {
  /** Where to look for workflow sources besides the bundled ones. */
  readonly directories: readonly WorkflowPlace[];
}

export interface SessionDetail {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  /** Only the part before the defect is shown. */
  readonly isSalvaged: boolean;
  readonly defect?: Defect | undefined;
  readonly events: number;
  readonly head: Digest;
  readonly isKept: boolean;
  readonly lastActiveAt: Timestamp;
  /** The last observations of the workspace. */
  readonly workspace: Readonly<Record<string, string>>;
  readonly runs: readonly RunDetail[];
  readonly omittedRuns: number;
}

export interface RunDetail extends Omit<RunView, 'nodes'> {
  readonly name: string | undefined;
  /** How the current source of the workflow compares with the run's pin. */
  readonly source: PinnedSource;
  readonly nodes: readonly NodeDetail[];
  /** Open and resolved gaps, as recorded. */
  readonly gaps: readonly (Gap & { readonly shown: Digest })[];
}

type PinnedSource =
  | { readonly kind: 'as_pinned' }
  | { readonly kind: 'changed'; readonly workflowHash: Digest }
  | { readonly kind: 'gone' };

export interface NodeDetail extends NodeView {
  /** The pending step; null if the workflow is complete. */
  readonly step: { readonly key: string; readonly title: string } | null;
  /** The notes written when this place was reached. */
  readonly notes?: string | undefined;
  /** The artifacts handed in when this place was reached, as text cut to a budget. */
  readonly artifacts?: readonly { readonly outputId: string; readonly text: string }[] | undefined;
  /** Why the last attempt did not advance from here; absent if one did. */
  readonly blockers?: readonly Blocker[] | undefined;
}

/** A session for display, in any health that can be read. Takes no lock. */
export async function showSession(
  options: DetailOptions,
  sessionId: SessionId,
): Promise<Result<SessionDetail, ErrorEnvelope>> {
  const stores = openSessionStores(options);
  const library = openWorkflowLibrary({ hasher: nodeHasher, places: options.directories });
  const read = stores.journal(sessionId).salvage();
  if (!read.ok) return read;
  const { health, view, defect } = read.value;
  if (view.length === 0 && defect === undefined) {
    return err(unknownSession(`There is no session ${sessionId} in this data directory.`));
  }
  const events = view.events();
  const stateOf = (ref: Digest) => {
    const snapshot = stores.snapshot(ref);
    return snapshot.ok ? snapshot.value.enginePayload.engineState : undefined;
  };
  const projected = projectSession(events, { health, engineStateOf: stateOf });
  const outputs = projectNodeOutputs(events);
  const dags = projectRunDags(events);
  const gaps = projectGaps(events);
  const blocked = blockersOf(events);
  const runs: RunDetail[] = [];
  for (const run of projected.runs) {
    const dag = dags.get(run.runId);
    const pinned = run.workflow && stores.workflow(run.workflow.workflowHash);
    const compiled = pinned?.ok === true ? pinned.value : undefined;
    const nodes = run.nodes.map((node): NodeDetail => {
      const state = stateOf(node.snapshotRef);
      const step = state && derivePendingStep(state);
      const title = compiled?.steps.find(({ stepId }) => stepId === step?.stepId)?.title;
      const own = dag?.nodes.get(node.nodeId);
      const from = node.parentNodeId === null ? undefined : dag?.nodes.get(node.parentNodeId);
      const notes = own && from && notesInto(outputs, own, from);
      const artifacts =
        own && from ? artifactsInto(outputs, own, from).map(output => shownArtifact(stores, output)) : [];
      return {
        ...node,
        step: step === undefined ? null : { key: formatStepInstanceKey(step), title: title ?? step.stepId },
        ...(notes !== undefined && { notes }),
        ...(artifacts.length > 0 && { artifacts }),
        ...(blocked.has(node.nodeId) && { blockers: blocked.get(node.nodeId) }),
      };
    });
    runs.push({
      ...run,
      name: compiled?.name,
      source: await sourceOf(library, run.workflow),
      nodes,
      gaps: gaps
        .filter(gap => gap.runId === run.runId)
        .map(gap => ({ ...gap, shown: shownQuestion(questionSources(stores), events, gap).hash })),
    });
  }
  const at = lastActive(stores, sessionId);
  return ok({
    sessionId,
    health,
    isSalvaged: projected.isSalvaged,
    ...(defect && { defect }),
    events: view.length,
    head: view.head,
    isKept: isKept(stores, sessionId),
    lastActiveAt: timestampOf({ now: () => at }),
    workspace: Object.fromEntries([...projectObservations(events)].map(([key, { value }]) => [key, value])),
    runs,
    omittedRuns: projected.omittedRuns,
  });
}

/** The most bytes of one shown artifact. */
const ARTIFACT_BYTES = 4_096;

function shownArtifact(stores: SessionStores, { outputId, payload }: NodeOutput) {
  const stored = payload.payloadKind === 'artifact_ref' ? stores.artifact(payload.sha256) : ok(payload.notesMarkdown);
  const text = stored.ok ? stored.value : `Not readable: ${stored.error.message}`;
  return { outputId, text: truncateUtf8(text, ARTIFACT_BYTES) };
}

/** By node, if its last attempt was blocked. */
function blockersOf(events: readonly DomainEvent[]): ReadonlyMap<NodeId, readonly Blocker[]> {
  const blocked = new Map<NodeId, readonly Blocker[]>();
  for (const event of events) {
    if (event.kind !== 'advance_recorded') continue;
    const { outcome } = event.data;
    if (outcome.kind === 'blocked') blocked.set(event.scope.nodeId, outcome.blockers.blockers);
    else blocked.delete(event.scope.nodeId);
  }
  return blocked;
}

async function sourceOf(library: WorkflowLibrary, workflow: RunView['workflow']): Promise<PinnedSource> {
  const found = workflow && (await library.find(workflow.workflowId));
  if (found?.ok !== true) return { kind: 'gone' };
  const { workflowHash } = found.value.compiled;
  return workflowHash === workflow?.workflowHash ? { kind: 'as_pinned' } : { kind: 'changed', workflowHash };
}
