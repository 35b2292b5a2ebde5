import path from 'node:path';
import { type ErrorEnvelope, failure, type PlanDescription } from '@signalbox/model';
import type { Machine } from '../machine.ts';
import { planLost } from '../runs/plan-lost.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { inOwnThread } from '../threads/own-thread.ts';

export interface DescribeOptions {
  readonly machine: Pick<Machine, 'timers'>;
  /** Where compiled modules of plans are kept. */
  readonly cacheDirectory?: string | undefined;
  readonly secrets?: SharedSecrets | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number;
}

/** How long a plan may take to be imported. */
const LIMIT_MS = 20_000;
const MEMORY_MB = 256;

/**
 * What a plan is and takes, from its file, by the same rules as a start. Its code is imported in a thread of its own that ends
 * with the answer; nothing is rendered and no work is done. What keeps it from being told is a part of the description.
 */
export async function describePlan(
  file: string,
  { machine, cacheDirectory, secrets, signal, limitMs = LIMIT_MS }: DescribeOptions,
): Promise<PlanDescription> {
  const absolute = path.resolve(file);
  // One that spins is as late as one that waits for something that never comes.
  const late = new AbortController();
  const cancel = machine.timers.after(limitMs, () => late.abort());
  const ends = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  const options = { timers: machine.timers, memoryMb: MEMORY_MB, cacheDirectory, secrets, signal: ends };
  try {
    const told = await inOwnThread(options, threads => threads.describe({ kind: 'file', file: absolute }));
    if ('status' in told) {
      const reason = late.signal.aborted ? `it was not imported within ${limitMs / 1000} s` : told.reason;
      return { file: absolute, problem: planLost(absolute, reason) };
    }
    if (!told.ok) return { file: absolute, problem: told.error };
    const { problem, ...outline } = told.value;
    return { file: absolute, ...outline, ...(problem !== undefined && { problem: noSchema(outline.name, problem) }) };
  } finally {
    cancel();
  }
}

function noSchema(plan: string, why: string): ErrorEnvelope {
  return failure('plan/input-invalid', {
    message: `What the plan ${plan} takes cannot be shown as JSON Schema: ${why}.`,
    suggestion: 'Give the input as JSON: it is checked when the plan is started.',
  });
}
