import path from 'node:path';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  type NodeInput,
  ok,
  type PlanDescription,
  type PlanFiles,
  type PlanList,
  type ReplayReport,
  type Result,
  type RunCheck,
  type RunId,
} from '@signalbox/model';
import type { Blobs, RunReader } from '@signalbox/runs';
import type { AgentTools } from '../agents/agent-tools.ts';
import { offeredTools } from '../agents/offered-tools.ts';
import type { PlanPlaces } from '../host/plan-places.ts';
import { unknownRun } from '../host/run-failures.ts';
import type { Machine } from '../machine.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import { createTurns, type Turns } from '../turns/turn-desk.ts';
import { describePlan } from './describe-plan.ts';
import { createGate } from './gate.ts';
import { knownPlans, type PlansFilter } from './known-plans.ts';
import { nodeInputOf } from './node-input.ts';
import { checkRun, replayedRun } from './run-checks.ts';

/** Detailed inspection of runs and plans. Changes nothing, except that a run's journal is brought up to date. */
export interface RunInspection {
  nodeInput(run: RunId, node: string, frame?: number | undefined): Promise<Result<NodeInput, ErrorEnvelope>>;
  plans(filter?: PlansFilter): Promise<Result<PlanList, ErrorEnvelope>>;
  /** The plans in the directories that plans may be started from, run or not. */
  planFiles(): PlanFiles;
  /** Problems of the plan itself are part of its description. */
  describePlan(file: string, signal?: AbortSignal): Promise<Result<PlanDescription, ErrorEnvelope>>;
  /** Whether the record of a run is as written. */
  verify(run: RunId, request?: VerifyRequest): Promise<Result<RunCheck, ErrorEnvelope>>;
  /** Whether its frames can be reproduced. */
  replay(run: RunId, request?: ReplayRequest): Promise<Result<ReplayReport, ErrorEnvelope>>;
  /** The artifacts derived from agent turns. */
  readonly turns: Turns;
  /** Ends running inspections. */
  close(): void;
}

interface VerifyRequest {
  readonly expectHead?: Digest | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface ReplayRequest {
  /** A plan's file, instead of the run's stored files. */
  readonly plan?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface InspectionPorts {
  readonly dataDirectory: string;
  readonly machine: Pick<Machine, 'clock' | 'ids' | 'timers'>;
  readonly reader: RunReader & Pick<Blobs, 'get'>;
  /** Where named plan files may be. */
  readonly places: PlanPlaces;
  readonly tools?: Pick<AgentTools, 'atHand' | 'commands'> | undefined;
  /** Removes secrets from a text. */
  readonly clean?: ((text: string) => string) | undefined;
  readonly secrets?: Secrets | undefined;
  /** Brings the journal of a run up to date with its log. */
  readonly drain: (run: RunId) => Promise<unknown>;
}

export function createRunInspection({
  dataDirectory,
  machine,
  places,
  reader,
  tools,
  clean,
  secrets,
  drain,
}: InspectionPorts): RunInspection {
  const closing = new AbortController();
  const looks = createGate({ atOnce: 2, waiting: 16 });
  const checks = createGate({ atOnce: 1, waiting: 8 });
  const until = (signal: AbortSignal | undefined) => ({
    dataDirectory,
    machine,
    signal: signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]),
  });
  const turns = createTurns({ dataDirectory, machine, reader, blobs: reader, tools, clean });
  const cacheDirectory = path.join(dataDirectory, 'cache', 'plans');
  return {
    async nodeInput(run, node, frame) {
      const record = await reader.run(run);
      if (record === undefined) return err(unknownRun(run));
      return nodeInputOf({ reader, tools: tools && (() => offeredTools(tools)) }, record, node, frame);
    },
    // Reading derives content with git and from snapshots: not for everybody at once.
    turns: { ...turns, read: artifact => looks.enter(() => turns.read(artifact)) },
    plans: filter => knownPlans(reader, filter),
    planFiles: () => places.plans(),
    describePlan: (file, signal) =>
      looks.enter(async () => {
        const found = places.find(file);
        return found.ok
          ? ok(
              await describePlan(found.value, {
                ...until(signal),
                cacheDirectory,
                secrets: secrets?.shared,
                isPlace: true,
              }),
            )
          : found;
      }),
    verify: (run, { expectHead, signal } = {}) =>
      checks.enter(async () => {
        await drain(run);
        return checkRun(until(signal), run, expectHead);
      }),
    replay: (run, { plan, signal } = {}) =>
      checks.enter(async () => {
        const found = plan === undefined ? ok(undefined) : places.find(plan);
        return found.ok ? replayedRun(until(signal), run, found.value) : found;
      }),
    close: () => closing.abort(),
  };
}
