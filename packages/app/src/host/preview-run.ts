import path from 'node:path';
import { Bug, type ErrorEnvelope, err, type Json, type Result } from '@signalbox/model';
import type { PlanPreview } from '@signalbox/plan';
import type { Machine } from '../machine.ts';
import { openPlanThreads, type PlanThreadsOptions } from '../threads/plan-threads.ts';
import type { ThreadHost } from '../threads/thread-api.ts';
import { planLost } from './plan-lost.ts';

/** What the first frame of a plan would show and do. Creates no run, and needs no data directory. */
export async function previewRun(
  file: string,
  input: Json,
  machine: Machine,
  limits: Partial<PlanThreadsOptions> = {},
): Promise<Result<PlanPreview, ErrorEnvelope>> {
  const threads = openPlanThreads(() => nobody, { timers: machine.timers, threads: 1, ...limits });
  const preview = await threads.preview({ kind: 'file', file: path.resolve(file) }, input);
  threads.close();
  return 'status' in preview ? err(planLost(file, preview.reason)) : preview;
}

const refuse = (): never => {
  throw new Bug('a plan that is only looked at asked for something durable');
};

/** Nothing durable happens in a preview. */
const nobody: ThreadHost = {
  calls: {
    ...{
      commit: refuse,
      read: refuse,
      execute: refuse,
      allow: refuse,
      timeOver: refuse,
      abort: refuse,
      operate: refuse,
      subRun: refuse,
      trace: refuse,
    },
    ...{ putBlobs: refuse, workspace: refuse, framed: refuse },
  },
  lost: async () => {},
};
