import path from 'node:path';
import type { ErrorEnvelope, Json, Result, RunHost, RunId, RunRecord } from '@signalbox/app/host';
import { answerInPlace } from '../do/answer-in-place.ts';
import { followRun } from '../follow-run.ts';
import { BY, type RunOwner } from '../owner/run-owner.ts';
import { describeEnd } from '../run-report.ts';
import { summaryOf } from '../run-summary.ts';
import { runViewOf } from '../run-view.ts';
import { paintOf, reportError, shown, type Terminal } from '../terminal.ts';
import { placeStyle } from '../thrown-report.ts';
import { checkPlan } from './plan-check.ts';
import { watchSources } from './watch-sources.ts';

export interface DevSession {
  readonly terminal: Terminal;
  readonly host: RunHost;
  readonly plan: string;
  readonly input: Json;
  readonly dataDirectory: string;
  /** Runs the plan at once, and resumes a failed run after every change. */
  readonly isAutomatic: boolean;
  readonly openConsole: () => void;
  /** Aborted by a signal. */
  readonly ending: AbortSignal;
}

/** What a person asks for, by key. */
const KEYS: Readonly<Record<string, Ask>> = {
  r: 'run',
  u: 'resume',
  a: 'answer',
  c: 'check',
  o: 'console',
  q: 'quit',
};
type Ask = 'run' | 'resume' | 'answer' | 'check' | 'console' | 'quit';

const HELP = 'r run · u resume with the change · a answer · c check · o console · q quit';

/**
 * Works on one plan until it is asked to end. One thing at a time: what is asked for while a run is followed comes after it, except for the
 * console and the end.
 */
export async function developPlan(session: DevSession): Promise<void> {
  const { terminal, host, plan, input, ending } = session;
  const quit = new AbortController();
  const over = AbortSignal.any([ending, quit.signal]);
  const paint = paintOf(terminal);
  const style = placeStyle(terminal, session.dataDirectory);
  const owner = ownerOf(host);
  const due = new Set<Ask>();
  let wake = () => {};
  let run: RunRecord | undefined;
  let canRun = false;
  let lastText: string | undefined;
  /** Said once. */
  const noted = new Set<string>();

  const ask = (what: Ask) => {
    if (what === 'quit') quit.abort();
    if (what === 'console') session.openConsole();
    else due.add(what);
    wake();
  };
  const stopWatching = watchSources(path.dirname(plan), () => ask('check'));
  let stopKeys = listen();
  over.addEventListener('abort', () => wake(), { once: true });
  due.add('check');
  if (session.isAutomatic) due.add('run');
  try {
    while (!over.aborted) {
      const [next] = due;
      if (next === undefined) {
        await new Promise<void>(resolve => {
          wake = resolve;
        });
        continue;
      }
      due.delete(next);
      await act(next);
    }
  } finally {
    stopWatching();
    stopKeys();
  }

  /** Keys are read by one at a time: this, or a question. */
  function listen(): () => void {
    return (
      terminal.keys?.(key => {
        const what = KEYS[key.toLowerCase()];
        if (what !== undefined) ask(what);
      }) ?? (() => {})
    );
  }

  async function act(what: Ask): Promise<void> {
    switch (what) {
      case 'check':
        return check();
      case 'run':
        return follow(0, () => host.start({ file: plan, input, anyFile: true, anyDirectory: true, by: BY }));
      case 'resume':
        return resume();
      case 'answer':
        return answer();
      case 'console':
      case 'quit':
        return;
    }
  }

  async function check(): Promise<void> {
    const checked = await checkPlan(plan, input, paint, over);
    if (over.aborted) return;
    for (const note of checked.notes) if (!noted.has(note)) terminal.print(paint.faint(shown(note)));
    for (const note of checked.notes) noted.add(note);
    canRun = checked.canRun;
    terminal.print(checked.text === lastText ? paint.faint('Checked: nothing new.') : `\n${checked.text}`);
    lastText = checked.text;
    const failed = run?.status === 'failed' || run?.status === 'stalled';
    if (failed && canRun && session.isAutomatic) due.add('resume');
    else hint();
  }

  function hint(): void {
    if (terminal.keys !== undefined) terminal.print(paint.faint(HELP));
  }

  async function resume(): Promise<void> {
    if (run === undefined || run.status === 'completed') {
      terminal.print('There is no run to resume: press r to start one.');
      return;
    }
    const { id, nextSeq } = run;
    await follow(nextSeq, () => host.resume(id, { useCurrent: true, anyFile: true, by: BY }));
  }

  async function follow(from: number, begin: () => Promise<Result<RunId, ErrorEnvelope>>): Promise<void> {
    const view = (id: RunId) => runViewOf(terminal, host.reader, id, false, style);
    const followed = await followRun(owner, from, begin, view, over);
    if (!followed.ok) return reportError(terminal, followed.error, false);
    run = followed.value;
    if (over.aborted) return;
    terminal.print(describeEnd(run, await summaryOf(host.reader, run), style));
    if (run.status === 'waiting' && terminal.ask !== undefined) due.add('answer');
    else hint();
  }

  /** Asks what the run waits for, and follows it on. */
  async function answer(): Promise<void> {
    if (run === undefined) return;
    const { id, nextSeq } = run;
    const open = await host.reader.decisions({ run: id, status: ['open'] });
    if (open.length === 0) {
      terminal.print('Nothing waits for an answer.');
      return;
    }
    stopKeys();
    let answered = 0;
    for (const { decision } of open) {
      if (!(await answerInPlace({ terminal, owner, ending: over, isNamed: true }, decision.id))) break;
      answered += 1;
    }
    stopKeys = listen();
    if (answered === 0) return hint();
    // An answer resumes the run, which may have ended by now.
    await follow(nextSeq, async () => ({ ok: true, value: id }));
  }
}

/** What following and answering need of an owner, which is this process. */
function ownerOf(host: RunHost): Pick<RunOwner, 'reader' | 'watch' | 'rested' | 'interrupt' | 'answer'> {
  return {
    reader: host.reader,
    watch: (run, bell) => host.feed.subscribe(run, ({ stream, events }) => bell(stream, events)),
    async rested(run) {
      await host.finished(run);
    },
    interrupt: () => host.rest(() => BY),
    async answer(decision, given) {
      const answered = await host.answer(decision, given, BY);
      return answered.ok ? { ok: true, value: undefined } : answered;
    },
  };
}
