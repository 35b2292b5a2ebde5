import { thrownMessage } from '@signalbox/model';
import { runProgram } from '@signalbox/state';
import type { NotifyConfig, NotifyKind } from './notify-config.ts';

/** What is sent. Fields are only added: scripts read them. */
export interface Notice {
  readonly v: 1;
  readonly kind: NotifyKind | 'test';
  readonly title: string;
  readonly text: string;
  readonly run?: string;
  readonly runName?: string;
  readonly decision?: string;
  /** Where the console shows it. */
  readonly url?: string;
  readonly at: string;
}

const TIMEOUT_MS = 10_000;

/** Sends a notice to everything that is configured. Returns what failed, in words. */
export async function sendNotice(
  notice: Notice,
  { webhook, command }: NotifyConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const sent = await Promise.all([
    webhook === undefined ? undefined : post(webhook, notice),
    command === undefined ? undefined : run(command, notice, env),
  ]);
  return sent.filter(fault => fault !== undefined);
}

/** The address is not named in a fault: it may hold a secret. */
async function post(webhook: string, notice: Notice): Promise<string | undefined> {
  try {
    const answer = await fetch(webhook, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(notice),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : `The webhook answered ${answer.status}.`;
  } catch (cause) {
    return `The webhook could not be reached: ${thrownMessage(cause)}.`;
  }
}

async function run(
  [program = '', ...args]: readonly string[],
  notice: Notice,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const { code, said } = await runProgram(program, args, { env, input: JSON.stringify(notice), timeoutMs: TIMEOUT_MS });
  if (code === 0) return undefined;
  const why = said.trim().split('\n').at(-1) ?? '';
  return `The command ${program} ${code === undefined ? 'was not completed' : `ended with ${code}`}${why === '' ? '' : `: ${why}`}.`;
}
