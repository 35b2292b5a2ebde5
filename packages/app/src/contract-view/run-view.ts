import {
  type Artifact,
  type ArtifactId,
  artifactRefOf,
  CONTRACT_VERSION,
  type ErrorEnvelope,
  err,
  nodeKindFacts,
  ok,
  type Result,
  type RunId,
  type RunOutline,
  type RunSnapshot,
  type RunSummary,
  type Timestamp,
  toContractRunStatus,
  type WireRecord,
} from '@signalbox/model';
import { contractNodeId, type RunReader, type RunRecord, type Task, type TaskId } from '@signalbox/runs';
import { unknownRun } from '../host/find-run.ts';
import { isInterrupted } from '../host/interrupted-runs.ts';
import { projectDirectoryOf } from '../host/project-directory.ts';
import type { RunHost } from '../host/run-host.ts';
import { timerWait } from '../host/timer-wait.ts';
import { contractTurnArtifact } from '../turns/projections/turn-artifact.ts';
import { turnsOf } from '../turns/turn-facts.ts';
import { decisionView } from './decision-view.ts';
import { liveSession } from './live-session.ts';
import { type Connected, contractNodes } from './node-view.ts';
import { taskView, UNDER_WAY } from './task-view.ts';
import { type ReadNode, readTree, withAsking } from './tree-view.ts';

/** Facts that a run's record lacks. */
export interface RunFacts {
  readonly driven: boolean;
  readonly openDecisions: number;
  readonly until: Timestamp | undefined;
}

/** The contract's fields of a run without its members, together with ours. */
export function runSummaryOf(record: RunRecord, { driven, openDecisions, until }: RunFacts): RunSummary {
  return {
    id: record.id,
    contractVersion: CONTRACT_VERSION,
    ...toContractRunStatus(record.status, record.stopReason),
    phase: record.phase,
    mode: record.mode,
    globalMode: record.globalMode,
    kind: 'plan',
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    record: recordView(record),
    driven,
    openDecisions,
    ...(until !== undefined && { until }),
  };
}

/** Summaries of many runs, with one read of the open decisions. */
export async function summariesOf(host: Host, records: readonly RunRecord[]): Promise<readonly RunSummary[]> {
  const open = Map.groupBy(await host.reader.decisions({ status: ['open'] }), ({ run }) => run);
  const driven = new Set<RunId>(host.driven());
  return Promise.all(
    records.map(async record =>
      runSummaryOf(record, {
        driven: driven.has(record.id),
        openDecisions: open.get(record.id)?.length ?? 0,
        until: await timerWait(host.reader, record),
      }),
    ),
  );
}

/** The summary of one run, from a given record or the stored one. */
export async function summaryOf(
  host: Host,
  run: RunId,
  known?: RunRecord,
): Promise<Result<RunSummary, ErrorEnvelope<'run/unknown'>>> {
  const record = known ?? (await host.reader.run(run));
  const [summary] = record === undefined ? [] : await summariesOf(host, [record]);
  return summary === undefined ? err(unknownRun(run)) : ok(summary);
}

/** A run in its current state, with its tree and open decisions; undefined if it does not exist. */
export async function snapshotOf(host: Host, run: RunId): Promise<RunSnapshot | undefined> {
  const read = await readRun(host, run);
  if (read === undefined) return undefined;
  const { outline, tree } = read;
  const tasks = await host.reader.tasks(run);
  return {
    ...outline,
    nodes: contractNodes(run, tree, tasks, outline.createdAt, await connectionsOf(host, run, tree, tasks)),
    edges: {},
    artifacts: { ...(await contractArtifacts(host.reader, run)), ...(await contractTurns(host.reader, run, tasks)) },
  };
}

/** The agents whose work is under way, by task. */
async function connectionsOf(
  { reader, driven }: Host,
  run: RunId,
  tree: readonly ReadNode[],
  tasks: readonly Task[],
): Promise<ReadonlyMap<TaskId, Connected>> {
  const agents = new Set(tree.flatMap(({ node }) => (nodeKindFacts(node.kind)?.role === 'agent' ? [node.id] : [])));
  const found = new Map<TaskId, Connected>();
  for (const task of tasks) {
    if (!agents.has(task.node) || !UNDER_WAY.includes(task.status)) continue;
    const { sessionId, lastOutputAt } = await liveSession(reader, run, task);
    const isDriven = driven().includes(run);
    const status = task.status === 'running' ? (isDriven ? 'connected' : 'disconnected') : 'idle';
    const lastHeartbeatAt = task.heartbeatAt ?? task.startedAt ?? task.createdAt;
    found.set(task.id, { sessionId, connection: { status, streaming: true, lastHeartbeatAt, lastOutputAt } });
  }
  return found;
}

/** The same without the contract's nodes, edges and artifacts. */
export async function outlineOf(host: Host, run: RunId): Promise<RunOutline | undefined> {
  return (await readRun(host, run))?.outline;
}

type Host = Pick<RunHost, 'reader' | 'driven'>;

async function readRun({ reader, driven }: Host, run: RunId) {
  // The record first: everything read after it is at least as new, and events from its `nextSeq` on make up the difference.
  const record = await reader.run(run);
  if (record === undefined) return undefined;
  const [tree, tasks, decisions] = await Promise.all([
    readTree(reader, run, record.frames),
    reader.tasks(run, { status: UNDER_WAY }),
    reader.decisions({ run, status: ['open'] }),
  ]);
  const asking = withAsking(tree, decisions);
  const outline = {
    ...runSummaryOf(record, {
      driven: driven().includes(run),
      openDecisions: decisions.length,
      until: await timerWait(reader, record, tasks),
    }),
    input: record.input,
    ...(record.output !== undefined && { output: record.output }),
    tree: asking.map(({ node }) => node),
    decisions: decisions.map(({ decision }) => decisionView(run, decision)),
    tasks: tasks.map(taskView),
  };
  return { outline, tree: asking };
}

const ARTIFACTS_PAGE = 500;

/** By id. Their contents are not read: they can be much larger than the metadata. */
async function contractArtifacts(reader: RunReader, run: RunId): Promise<Record<string, Artifact>> {
  const found: Record<string, Artifact> = {};
  for (let after: ArtifactId | undefined, isMore = true; isMore; isMore = after !== undefined) {
    const page = await reader.artifactList({
      run,
      versions: 'all',
      limit: ARTIFACTS_PAGE,
      ...(after !== undefined && { after }),
    });
    for (const { artifact } of page.items) {
      const { id, node, kind, name, createdAt, diff } = artifact;
      if (node === undefined) continue;
      const nodeId = contractNodeId(run, node);
      found[id] = { id, runId: run, nodeId, kind, name, path: artifactRefOf(id), createdAt, ...(diff && { diff }) };
    }
    after = page.next;
  }
  return found;
}

/** The artifacts derived from agent turns. File changes come with their diff, which requires reading files. */
async function contractTurns(reader: RunReader, run: RunId, tasks: readonly Task[]): Promise<Record<string, Artifact>> {
  const turns = await turnsOf(reader, run, tasks);
  return Object.fromEntries(
    turns.map(artifact => [artifact.id, contractTurnArtifact(artifact, contractNodeId(run, artifact.node))]),
  );
}

function recordView(record: RunRecord): WireRecord {
  const { origin } = record;
  const directory = projectDirectoryOf(record);
  return {
    id: record.id,
    driver: record.driver,
    name: record.name,
    tags: record.tags,
    ...(record.correlationId !== undefined && { correlationId: record.correlationId }),
    status: record.status,
    ...(record.stopReason !== undefined && { stopReason: record.stopReason }),
    ...(isInterrupted(record) && { interrupted: true }),
    ...(record.error !== undefined && { error: faultView(record.error) }),
    ...(origin !== undefined && {
      origin:
        origin.kind === 'sub-plan'
          ? { kind: origin.kind, run: origin.run, node: origin.node }
          : { kind: origin.kind, run: origin.run, ...(origin.kind === 'fork' && { frame: origin.frame }) },
    }),
    ...(record.source !== undefined && { entry: record.source.entry }),
    ...(directory !== undefined && { directory }),
    limits: record.limits,
    frames: record.frames,
    nextSeq: record.nextSeq,
    head: record.head,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    ...(record.startedAt !== undefined && { startedAt: record.startedAt }),
    ...(record.endedAt !== undefined && { endedAt: record.endedAt }),
    ...(record.kept !== undefined && { kept: record.kept }),
    ...(record.collected !== undefined && { collected: record.collected }),
  };
}

function faultView({ class: errorClass, code, message, thrown }: NonNullable<RunRecord['error']>) {
  return { class: errorClass, code, message, ...(thrown !== undefined && { thrown }) };
}
