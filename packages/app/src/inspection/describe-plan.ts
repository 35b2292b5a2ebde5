import path from 'node:path';
import { type ErrorEnvelope, failure, type PlanDescription } from '@signalbox/model';
import { planLost } from '../host/plan-lost.ts';
import type { Machine } from '../machine.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { inOwnThread } from '../threads/own-thread.ts';
import type { PlanThreadsOptions } from '../threads/plan-threads.ts';

export interface DescribeOptions {
  readonly machine: Pick<Machine, 'timers'>;
  /** Where compiled modules of plans are cached. */
  readonly cacheDirectory?: string | undefined;
  readonly secrets?: SharedSecrets | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The file was found with its links resolved. */
  readonly isPlace?: boolean;
  readonly threads?: Pick<PlanThreadsOptions, 'threadTime' | 'loadMs'>;
}

const MEMORY_MB = 256;

/**
 * The description of a plan from its file, by the same rules as a start. Its code is imported in its own thread that ends with the answer;
 * nothing is rendered and no work is done. Problems are part of the description.
 */
export async function describePlan(
  file: string,
  { machine, cacheDirectory, secrets, signal, threads, isPlace = false }: DescribeOptions,
): Promise<PlanDescription> {
  const absolute = path.resolve(file);
  const options = { timers: machine.timers, memoryMb: MEMORY_MB, cacheDirectory, secrets, signal, ...threads };
  const told = await inOwnThread(options, asked => asked.describe({ kind: 'file', file: absolute, isPlace }));
  if ('status' in told) return { file: absolute, problem: planLost(absolute, told.reason) };
  if (!told.ok) return { file: absolute, problem: told.error };
  const { problem, ...outline } = told.value;
  return { file: absolute, ...outline, ...(problem !== undefined && { problem: noSchema(outline.name, problem) }) };
}

function noSchema(plan: string, why: string): ErrorEnvelope {
  return failure('plan/input-invalid', {
    message: `The input of plan ${plan} cannot be shown as JSON Schema: ${why}.`,
    suggestion: 'Give the input as JSON: it is checked when the plan starts.',
  });
}
