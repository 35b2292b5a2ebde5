import path from 'node:path';
import {
  type AttemptFacts,
  attemptFacts,
  type Kept,
  openReader,
  openTurns,
  type RunId,
  type RunReader,
  type RunRecord,
} from '@signalbox/app/host';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { describeEnd, exitCodeOfEnd } from '../run-report.ts';
import { summaryOf } from '../run-summary.ts';
import { paintOf, shown, type Terminal } from '../terminal.ts';
import { describeComparison, describeDiff, describeFailures } from './comparison.ts';
import type { DoTask } from './do-plan.ts';

export interface DoneTask extends DoTask {
  readonly json: boolean;
  readonly directory: string;
  readonly dataDirectory: string;
}

/** How a task ended: what was changed or would have been, and what became of it. */
export async function reportDone(
  terminal: Terminal,
  reader: RunReader,
  run: RunRecord,
  done: DoneTask,
): Promise<ExitCode> {
  return done.attempts.length === 1 ? reportOne(terminal, reader, run, done) : reportAll(terminal, reader, run, done);
}

async function reportOne(terminal: Terminal, reader: RunReader, run: RunRecord, done: DoneTask): Promise<ExitCode> {
  const { apply, directory, json, attempts } = done;
  const paint = paintOf(terminal);
  const [task] = await reader.tasks(run.id);
  const facts = task && (await attemptFacts(reader, run.id, task));
  const isDropped = task?.lastError?.code === 'changes-dropped';
  const isUnfit = task?.lastError?.code === 'check-failed';
  // What was asked about was shown with the question.
  const applied = run.status === 'completed' && apply === 'auto' ? await appliedDiff(done, run.id) : '';
  const diff = apply === 'never' || isUnfit ? (facts?.diff ?? '') : applied;
  const check = facts?.told.check;
  if (json) {
    const { id, status, error } = run;
    const dropped = isDropped || isUnfit || apply === 'never';
    terminal.print(
      JSON.stringify({ run: id, agent: attempts[0]?.agent, end: { status, error }, diff, check, dropped }),
    );
  } else {
    if (diff !== '') terminal.print(describeDiff(diff, paint).join('\n'));
    if (facts !== undefined && check !== undefined && apply !== 'ask') {
      const lines = check.passed ? [paint.good('✓ the check passed')] : describeFailures([facts.told], paint);
      terminal.print(lines.join('\n'));
    }
    if (isDropped) terminal.print(`Dropped. Nothing of it is in ${shown(directory)}.`);
    else terminal.print(describeEnd(run, await summaryOf(reader, run), { paint, editor: '' }));
  }
  return isDropped ? exitCodes.done : exitCodeOfEnd(run.status);
}

async function reportAll(terminal: Terminal, reader: RunReader, run: RunRecord, done: DoneTask): Promise<ExitCode> {
  const { apply, directory, json } = done;
  const paint = paintOf(terminal);
  const all = await factsOf(reader, run.id, done);
  const keep = (await reader.tasks(run.id)).findLast(({ node, status }) => node === 'keep' && status === 'done');
  const kept = (keep?.result as Kept | undefined)?.kept;
  const isUnfit = apply === 'auto' && run.status === 'completed' && kept === null;
  const code = isUnfit ? exitCodes.failed : exitCodeOfEnd(run.status);
  if (json) {
    const { id, status, error } = run;
    const attempts = all.map(({ told, diff }) => ({ ...told, diff }));
    terminal.print(JSON.stringify({ run: id, end: { status, error }, kept, attempts }));
    return code;
  }
  // A person at the terminal saw all of it with the question, if there was one.
  const isAsked = (await reader.decisions({ run: run.id })).some(({ decision }) => decision.node === 'keep');
  const wasShown = isAsked && terminal.ask !== undefined;
  const told = all.map(one => one.told);
  if ((keep !== undefined || isAsked) && !wasShown) {
    const diffs = all.filter(({ diff }) => diff !== '').map(({ told: { node }, diff }) => `# ${node}\n${diff}\n`);
    if (diffs.length > 0) terminal.print(describeDiff(diffs.join('\n'), paint).join('\n'));
    const compared = [
      ...describeFailures(told, paint),
      ...describeComparison(told, paint, terminal.screen?.size().width),
    ];
    terminal.print(compared.join('\n'));
  }
  if (kept !== undefined) terminal.print(becameOf(kept, all, { isUnfit, directory }));
  terminal.print(describeEnd(run, await summaryOf(reader, run), { paint, editor: '' }));
  return code;
}

function becameOf(
  kept: string | null,
  all: readonly AttemptFacts[],
  { isUnfit, directory }: { readonly isUnfit: boolean; readonly directory: string },
): string {
  if (kept !== null) {
    const others = all.filter(({ told, call }) => told.node !== kept && call !== undefined);
    const dropped = others.length === 0 ? '' : ` Dropped ${others.map(({ told }) => shown(told.node)).join(', ')}.`;
    return `Kept the changes of ${shown(kept)}.${dropped}`;
  }
  const why = isUnfit
    ? 'No check passed. '
    : all.every(({ call }) => call === undefined)
      ? 'Nothing was changed. '
      : '';
  return `${why}Kept none: nothing of it is in ${shown(directory)}.`;
}

async function factsOf(reader: RunReader, run: RunId, { attempts }: DoneTask): Promise<readonly AttemptFacts[]> {
  const tasks = await reader.tasks(run);
  const last = attempts.flatMap(({ id }) => tasks.findLast(({ node }) => node === id) ?? []);
  return Promise.all(last.map(task => attemptFacts(reader, run, task)));
}

/** What the agent's turn changed. */
async function appliedDiff({ dataDirectory }: DoneTask, run: RunId): Promise<string> {
  const opened = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!opened.ok) return '';
  try {
    const turns = openTurns(dataDirectory, opened.value, process.env);
    const made = (await turns.list(run)).find(({ name }) => name === 'diff.patch');
    const read = made === undefined ? undefined : await turns.read(made);
    return read?.ok === true ? Buffer.from(read.value.content).toString('utf8').trimEnd() : '';
  } finally {
    opened.value.close();
  }
}
