/**
 * What two runs have in common and where they part, from their logs alone: nothing is run.
 *
 * C1  A fork is compared with its parent from the forked frame on, and two forks of one parent from the earlier of both: frames at the same
 *     place have the same distance from there.
 * C2  Frames are equal if their digests are: of the plan, the statuses and the state together. What differs is read only for those that are shown.
 */
import { type ErrorEnvelope, err, ok, type Result, type RunComparison, type RunId } from '@signalbox/model';
import type { RunReader, RunRecord } from '@signalbox/runs';
import { unknownRun } from '../host/run-failures.ts';
import type { Contents } from '../workspaces/snapshot-diff.ts';
import { compareDecisions } from './compare-decisions.ts';
import { compareFiles } from './compare-files.ts';
import { compareFrames } from './compare-frames.ts';
import { compareNodes } from './compare-nodes.ts';
import { relationOf } from './relation.ts';
import { pairsOf, partsOf } from './value-pairs.ts';

export interface ComparePorts {
  readonly reader: RunReader;
  readonly contents: Contents;
  readonly dataDirectory: string;
  readonly now: () => number;
}

export async function compareRuns(
  ports: ComparePorts,
  a: RunId,
  b: RunId,
): Promise<Result<RunComparison, ErrorEnvelope>> {
  const { reader } = ports;
  const [left, right] = [await reader.run(a), await reader.run(b)];
  if (left === undefined) return err(unknownRun(a));
  if (right === undefined) return err(unknownRun(b));
  const relation = relationOf(left, right);
  const stateOf = async ({ id, frames }: RunRecord) => Object.fromEntries(await reader.at(id, 'state', frames));
  return ok({
    a: await sideOf(ports, left),
    b: await sideOf(ports, right),
    relation,
    plan: comparePlans(left, right),
    input: pairsOf(partsOf(left.input), partsOf(right.input)),
    output: pairsOf(partsOf(left.output), partsOf(right.output)),
    state: pairsOf(await stateOf(left), await stateOf(right)),
    ...(await compareFiles(ports, left, right)),
    nodes: await compareNodes(reader, left, right, ports.now()),
    decisions: await compareDecisions(reader, left, right),
    frames: await compareFrames(reader, left, right, relation),
  });
}

async function sideOf({ reader, now }: ComparePorts, record: RunRecord): Promise<RunComparison['a']> {
  const { id, name, status, stopReason, error, createdAt, startedAt, endedAt, frames, source } = record;
  const usage = await reader.usageOfTree(id);
  const end = endedAt === undefined ? now() : Date.parse(endedAt);
  return {
    run: id,
    name,
    status,
    ...(stopReason !== undefined && { stopReason }),
    ...(error !== undefined && { error: error.message }),
    createdAt,
    ms: Math.max(0, end - Date.parse(startedAt ?? createdAt)),
    frames,
    ...(source !== undefined && { entry: source.entry }),
    calls: usage.calls,
    tokens: usage.inputTokens + usage.outputTokens,
    toolCalls: usage.toolCalls,
    costMicroUsd: usage.costMicroUsd,
  };
}

/** The author's files by content. A run of a workflow has none. */
function comparePlans(a: RunRecord, b: RunRecord): RunComparison['plan'] {
  const filesOf = ({ source }: RunRecord) => new Map(source?.files.map(({ path, digest }) => [path, digest]) ?? []);
  const [before, after] = [filesOf(a), filesOf(b)];
  const files = [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap(path => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === now) return [];
    return [{ path, change: old === undefined ? 'added' : now === undefined ? 'removed' : 'changed' } as const];
  });
  return { same: files.length === 0, files };
}
