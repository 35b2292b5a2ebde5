import type { RunHost, RunRecord } from '@signalbox/app/runs';
import { contractNodeId } from '@signalbox/app/runs';
import {
  type Artifact,
  artifactRefOf,
  CONTRACT_VERSION,
  type RunId,
  type RunSnapshot,
  type RunSummary,
  toContractRunStatus,
  type WireRecord,
} from '@signalbox/model';
import { decisionView } from './decision-view.ts';
import { contractNodes } from './node-view.ts';
import { taskView, UNDER_WAY } from './task-view.ts';
import { readTree } from './tree-view.ts';

/** What a run's record does not say by itself. */
export interface RunFacts {
  readonly driven: boolean;
  readonly openDecisions: number;
}

/** The contract's fields of a run without its members, and ours beside them. */
export function runSummaryOf(record: RunRecord, { driven, openDecisions }: RunFacts): RunSummary {
  return {
    id: record.id,
    contractVersion: CONTRACT_VERSION,
    ...toContractRunStatus(record.status, record.stopReason),
    phase: record.phase,
    mode: record.mode,
    globalMode: record.globalMode,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    record: recordView(record),
    driven,
    openDecisions,
  };
}

/** Summaries of many runs, with one look at the open decisions. */
export async function summariesOf(
  host: Pick<RunHost, 'reader' | 'driven'>,
  records: readonly RunRecord[],
): Promise<readonly RunSummary[]> {
  const open = Map.groupBy(await host.reader.decisions({ status: ['open'] }), ({ run }) => run);
  const driven = new Set<RunId>(host.driven());
  return records.map(record =>
    runSummaryOf(record, { driven: driven.has(record.id), openDecisions: open.get(record.id)?.length ?? 0 }),
  );
}

/** A run as it is now, with its tree and all that waits; undefined where there is none. */
export async function snapshotOf(
  host: Pick<RunHost, 'reader' | 'driven'>,
  run: RunId,
): Promise<RunSnapshot | undefined> {
  const { reader } = host;
  // The record first: what is read after it is at least as new, and events from its `nextSeq` on make up the difference.
  const record = await reader.run(run);
  if (record === undefined) return undefined;
  const [tree, tasks, decisions, artifacts] = await Promise.all([
    readTree(reader, run, record.frames),
    reader.tasks(run),
    reader.decisions({ run, status: ['open'] }),
    reader.artifacts(run),
  ]);
  return {
    ...runSummaryOf(record, { driven: host.driven().includes(run), openDecisions: decisions.length }),
    input: record.input,
    ...(record.output !== undefined && { output: record.output }),
    nodes: contractNodes(run, tree, tasks, record.createdAt),
    edges: {},
    artifacts: Object.fromEntries(
      artifacts.flatMap(({ id, node, kind, name, createdAt, diff }): readonly (readonly [string, Artifact])[] => {
        if (node === undefined) return [];
        const nodeId = contractNodeId(run, node);
        return [
          [id, { id, runId: run, nodeId, kind, name, path: artifactRefOf(id), createdAt, ...(diff && { diff }) }],
        ];
      }),
    ),
    tree: tree.map(({ node }) => node),
    decisions: decisions.map(({ decision }) => decisionView(run, decision)),
    tasks: tasks.filter(({ status }) => UNDER_WAY.includes(status)).map(taskView),
  };
}

function recordView(record: RunRecord): WireRecord {
  const { origin } = record;
  return {
    id: record.id,
    driver: record.driver,
    name: record.name,
    tags: record.tags,
    ...(record.correlationId !== undefined && { correlationId: record.correlationId }),
    status: record.status,
    ...(record.stopReason !== undefined && { stopReason: record.stopReason }),
    ...(record.error !== undefined && { error: faultView(record.error) }),
    ...(origin !== undefined && {
      origin:
        origin.kind === 'sub-plan'
          ? { kind: origin.kind, run: origin.run, node: origin.node }
          : { kind: origin.kind, run: origin.run, ...(origin.kind === 'fork' && { frame: origin.frame }) },
    }),
    ...(record.source !== undefined && { entry: record.source.entry }),
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

function faultView({ class: errorClass, code, message }: NonNullable<RunRecord['error']>) {
  return { class: errorClass, code, message };
}
