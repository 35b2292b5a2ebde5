import { cutAtWord, type Json } from '@signalbox/model';
import type { AgentSession } from '@signalbox/runs';
import type { HeldCheck } from '@signalbox/state';
import * as z from 'zod';
import type { AgentTools } from './agent-tools.ts';

/** How the check of a turn's changes ended, as its transcript has it. */
export const turnCheck = z.object({
  command: z.string(),
  passed: z.boolean(),
  /** In words: "passed", "exited with 1", "was not run: …". */
  says: z.string(),
  output: z.string(),
});
export type TurnCheck = Readonly<z.infer<typeof turnCheck>>;

const kept = turnCheck.extend({ kind: z.literal('checked'), call: z.string() });

export interface CheckedTurn {
  readonly call: string;
  readonly command: string;
  readonly signal: AbortSignal;
  /** The transcript so far. */
  readonly transcript: readonly Json[];
  keep(entry: unknown): Promise<unknown>;
  stream: AgentSession['stream'];
}

/**
 * Runs the check of a turn on its held changes, once: an attempt that was cut off after it finds the result. Undefined if the check was
 * canceled.
 */
export async function checkTurn(tools: AgentTools, turn: CheckedTurn): Promise<TurnCheck | undefined> {
  const { call, command, signal, transcript, keep, stream } = turn;
  const known = transcript.flatMap(entry => {
    const read = kept.safeParse(entry);
    return read.success && read.data.call === call && read.data.command === command ? [read.data] : [];
  });
  const last = known.at(-1);
  if (last !== undefined) return turnCheck.parse(last);
  const own = { call: `${call}/check`, tool: 'check' };
  stream('tool_start', { ...own, title: `Check: ${cutAtWord(command, 200)}`, input: { command } });
  const ended: HeldCheck = (await tools.check?.(call, command, signal)) ?? {
    kind: 'not-run',
    reason: 'checks are not available here',
  };
  const outcome = signal.aborted ? 'canceled' : ended.kind === 'passed' ? 'succeeded' : 'failed';
  stream('tool_end', { ...own, outcome, ms: 0, approval: 'not-needed' });
  if (signal.aborted) return undefined;
  const check = { command, passed: ended.kind === 'passed', says: wordsOf(ended), output: outputOf(ended) };
  await keep({ v: 1, kind: 'checked', call, ...check });
  return check;
}

const MOST_OUTPUT = 16_000;

/** The end of what it printed, where a test says what failed. */
function outputOf(ended: HeldCheck): string {
  const { output } = (('value' in ended ? ended.value : undefined) ?? {}) as { readonly output?: unknown };
  if (typeof output !== 'string') return '';
  const text = output.trimEnd();
  return text.length <= MOST_OUTPUT ? text : `…\n${text.slice(-MOST_OUTPUT)}`;
}

function wordsOf(ended: HeldCheck): string {
  if (ended.kind === 'passed') return 'passed';
  if (ended.kind === 'not-run') return `was not run: ${cutAtWord(ended.reason, 500)}`;
  const { exitCode } = (ended.value ?? {}) as { readonly exitCode?: unknown };
  return typeof exitCode === 'number' ? `exited with ${exitCode}` : ended.reason.replace(/^\S+ /, '');
}
