import type { ArtifactRecord, Frame, RunRecord, Spending, StreamChunk, Task } from '@signalbox/app/host';
import type {
  ApprovalId,
  Json,
  PlanDescription,
  RunId,
  RunSnapshot,
  RunSummary,
  TreeNode,
  WireDecision,
  WirePlan,
  WireProvider,
  WireRecord,
  WireStoredEvent,
} from '@signalbox/model';

/**
 * The operator's resources (PRD 10.2), with the names of the specification. A run is called an execution here, and an agent's task a run.
 */
export function executionSummary(
  record: Pick<WireRecord, 'id' | 'name' | 'status' | 'tags' | 'createdAt' | 'updatedAt' | 'startedAt' | 'endedAt'>,
  spending: readonly Spending[],
) {
  const started = record.startedAt ?? record.createdAt;
  return {
    id: record.id,
    name: record.name,
    status: record.status,
    started_at: started,
    updated_at: record.updatedAt,
    duration_ms: record.endedAt === undefined ? null : Date.parse(record.endedAt) - Date.parse(started),
    model_usage: modelUsage(spending),
    tags: record.tags,
  };
}

export function executionDetail(record: RunRecord, spending: readonly Spending[], tree: readonly TreeNode[]) {
  return {
    ...executionSummary(record, spending),
    script_path: record.source?.entry ?? null,
    config: { input: record.input, limits: record.limits, correlation_id: record.correlationId ?? null },
    current_frame_index: record.frames - 1,
    total_frames: record.frames,
    active_nodes: tree.filter(({ status }) => status === 'running' || status === 'scheduled').map(({ id }) => id),
    stop_reason: record.stopReason ?? null,
    output: record.output ?? null,
    error: record.error === undefined ? null : { code: record.error.code, message: record.error.message },
    head: record.head,
  };
}

/** The fields of guided executions only. The spending of their agents is unknown to us. */
function guidedPart({ guided }: RunSummary) {
  return {
    kind: 'guided' as const,
    session_id: guided?.sessionId ?? null,
    workflow_id: guided?.workflowId ?? null,
    pending_step: guided?.pendingStep?.title ?? null,
  };
}

export function guidedSummary(run: RunSummary) {
  return { ...executionSummary(run.record, []), ...guidedPart(run) };
}

export function guidedDetail(run: RunSnapshot) {
  const { record, input, tree, decisions } = run;
  return {
    ...guidedSummary(run),
    script_path: null,
    config: { input, limits: record.limits, correlation_id: null },
    current_frame_index: -1,
    total_frames: 0,
    active_nodes: tree.filter(({ status }) => status === 'running' || status === 'scheduled').map(({ id }) => id),
    stop_reason: null,
    output: null,
    error: null,
    head: record.head,
    plan_tree: tree,
    approvals: decisions.map(approvalShown),
  };
}

export function approvalShown({ approvalId, runId, decision }: WireDecision) {
  return approvalRecord(runId, { id: approvalId, ...decision });
}

export function frameSummary({ index, at, trigger, written }: Frame) {
  return { frame_index: index, created_at: at, reason: trigger.kind, state_keys_changed: written };
}

type Changes = Readonly<Record<string, { readonly old: Json; readonly new: Json }>>;

export function frameDetail(
  frame: Frame,
  parts: {
    readonly tree: readonly TreeNode[];
    readonly changes: Changes;
    readonly volatileChanges: Changes;
    readonly events: readonly WireStoredEvent[];
  },
) {
  return {
    ...frameSummary(frame),
    plan_tree: parts.tree,
    state_diff: parts.changes,
    vol_diff: parts.volatileChanges,
    digest: frame.digest,
    verifiable: frame.verifiable,
    plan_version: frame.planVersion ?? 1,
    events: parts.events,
  };
}

export function nodeInstance(
  { id, kind, label, status, iteration, reason, handlers = [], source }: TreeNode,
  seen: { readonly mounted: number; readonly last: number },
  tasks: readonly Task[],
) {
  return {
    node_id: id,
    node_type: kind,
    label,
    status,
    iteration,
    block_reason: reason ?? null,
    handlers,
    source: source ?? null,
    mounted_at_frame: seen.mounted,
    last_seen_frame: seen.last,
    runs: tasks.map(({ id: task, status: ended, startedAt, endedAt }) => ({
      run_id: task,
      status: ended,
      started_at: startedAt ?? null,
      ended_at: endedAt ?? null,
    })),
  };
}

export function agentRun(
  task: Task,
  model: string | null,
  spending: readonly Spending[],
  chunks: readonly StreamChunk[],
) {
  const { result } = task;
  return {
    run_id: task.id,
    node_id: task.node,
    model,
    status: task.status,
    started_at: task.startedAt ?? null,
    ended_at: task.endedAt ?? null,
    turns_used: spending.reduce((calls, spent) => calls + spent.calls, 0),
    usage: tokenUsage(spending),
    output_text: typeof result === 'string' ? result : null,
    output_structured: typeof result === 'object' && result !== null ? result : null,
    tool_calls: chunks.filter(({ kind }) => kind === 'tool_start' || kind === 'tool_end'),
    error: task.lastError === undefined ? null : { code: task.lastError.code, message: task.lastError.message },
  };
}

export function approvalRecord(run: RunId, decision: WireDecision['decision'] & { readonly id: ApprovalId }) {
  const { id, node, kind, proposal, status, askedAt, closedAt, answeredBy, resolution } = decision;
  return {
    id,
    execution_id: run,
    node_id: node,
    kind: kind === 'file_edit' || kind === 'command_exec' || kind === 'external_api' ? kind : 'human_review',
    payload: proposal,
    status: status === 'open' ? 'pending' : answerWord(resolution?.resolutionType),
    requested_at: askedAt,
    responded_at: closedAt ?? null,
    responder: answeredBy ?? null,
    comment: resolution?.rationale ?? null,
  };
}

/** Longer content is not included. */
const SHOWN_CONTENT = 4_096;

export function artifactShown(run: RunId, record: ArtifactRecord) {
  const { id, node, kind, name, bytes, mimeType, content, createdAt, key, version } = record;
  const isShown = content !== undefined && bytes <= SHOWN_CONTENT;
  return {
    id,
    execution_id: run,
    node_id: node ?? null,
    // An artifact belongs to the work that made it; its frame is not recorded.
    frame_id: null,
    key: key ?? null,
    version: version ?? 1,
    type: kind,
    name,
    mime_type: mimeType,
    bytes,
    content: isShown ? { text: content } : { reference: `artifact://${id}` },
    created_at: createdAt,
    // A change creates another version.
    updated_at: createdAt,
  };
}

export function script({ file, name, runs, lastRun, exists }: WirePlan) {
  return { path: file, name, executions: runs, last_execution: lastRun.id, last_status: lastRun.status, exists };
}

export function scriptDetail({ file, name, description, inputSchema, problem }: PlanDescription) {
  return {
    path: file,
    name: name ?? null,
    description: description ?? null,
    input_schema: inputSchema ?? null,
    problem: problem ?? null,
  };
}

export function providerStanding({ name, health, waitsUntil, failuresInRow, lastError, windows }: WireProvider) {
  return {
    name,
    health,
    waits_until: waitsUntil ?? null,
    failures_in_row: failuresInRow,
    last_error: lastError ?? null,
    rate_limits: windows.map(({ model, counts, limit, remaining, resetsAt }) => ({
      model,
      counts,
      limit: limit ?? null,
      remaining: remaining ?? null,
      resets_at: resetsAt ?? null,
    })),
  };
}

function answerWord(type: string | undefined): 'approved' | 'denied' | 'withdrawn' {
  if (type === undefined) return 'withdrawn';
  return type === 'reject' ? 'denied' : 'approved';
}

function modelUsage(spending: readonly Spending[]) {
  const byModel = Map.groupBy(
    spending,
    ({ provider, model }) => [provider, model].filter(Boolean).join('/') || 'unknown',
  );
  return Object.fromEntries([...byModel].map(([model, spent]) => [model, tokenUsage(spent)]));
}

function tokenUsage(spending: readonly Spending[]) {
  const sum = (of: (spent: Spending) => number) => spending.reduce((total, spent) => total + of(spent), 0);
  return {
    input_tokens: sum(spent => spent.inputTokens),
    output_tokens: sum(spent => spent.outputTokens),
    cached_tokens: sum(spent => spent.cachedTokens),
    cost_micro_usd: sum(spent => spent.costMicroUsd),
  };
}
