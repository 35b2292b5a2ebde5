import { type ErrorEnvelope, ok, type Result, type RunId } from '@signalbox/model';
import type { Decision, RunReader } from '@signalbox/runs';
import { ceilingOf, limitOf, raisedLimit, whyNotRaised } from '../decisions/limit-decisions.ts';
import type { CeilingDesk } from '../limits/ceiling-desk.ts';
import type { HostBase } from './open-run-host.ts';
import type { Raise } from './raise-limits.ts';
import { TOLD_MS } from './run-acts.ts';
import type { RunHost } from './run-host.ts';
import { within } from './within.ts';

/** The consequences of answers. Answers are durable first: the next resume does what a crash left undone. */
export interface Answers extends Pick<RunHost, 'answer'> {
  /** Answers about limits whose process died before they were applied. */
  deliverLate(run: RunId): Promise<Result<void, ErrorEnvelope>>;
}

export interface AnswerPorts extends Pick<RunHost, 'finished'> {
  readonly raise: Raise;
  readonly ceilings?: Pick<CeilingDesk, 'raise'> | undefined;
  readonly stop: RunHost['act'];
  readonly resume: RunHost['resume'];
}

/** What answers need of the host. */
interface AnswerBase extends Pick<HostBase, 'machine'> {
  readonly options: { readonly resumeOnAnswer?: boolean };
  readonly store: Pick<RunReader, 'run' | 'decisions'>;
  readonly threads: Pick<HostBase['threads'], 'command'>;
  readonly decisions: Pick<HostBase['decisions'], 'answer' | 'deliver'>;
}

export function createAnswers(base: AnswerBase, { raise, ceilings, stop, resume, finished }: AnswerPorts): Answers {
  const { options, store, machine, threads, decisions } = base;
  const resumesOnAnswer = options.resumeOnAnswer === true;

  /** Raises the limit in question, or stops the run. */
  async function deliver(
    run: RunId,
    decision: Decision,
  ): Promise<Result<'driven' | 'rests' | 'stopped', ErrorEnvelope>> {
    const { answeredBy: by = 'signalbox' } = decision;
    const limits = raisedLimit(decision);
    const about = ceilingOf(decision);
    if (limits !== undefined && about !== undefined && ceilings !== undefined) {
      const raised = await ceilings.raise(about, limits[about.limit] ?? about.suggested);
      if (!raised.ok) return raised;
    }
    const done =
      limits === undefined
        ? await stop(run, { kind: 'stop', reason: whyNotRaised(decision) }, by)
        : await raise(run, about === undefined ? limits : {}, by);
    if (!done.ok) return done;
    await decisions.deliver(run, decision.id);
    return ok(done.value ?? 'stopped');
  }

  async function answerLimit(run: RunId, decision: Decision): Promise<Result<unknown, ErrorEnvelope>> {
    const done = await deliver(run, decision);
    if (!done.ok || done.value !== 'rests' || !resumesOnAnswer) return done;
    const resumed = await resume(run);
    return !resumed.ok && resumed.error.code === 'run/driven' ? ok(run) : resumed;
  }

  /** Notifies the waiting run, or its nearest driven ancestor. */
  async function wake(run: RunId, node: string): Promise<boolean> {
    const told = await threads.command(run, { kind: 'wake', node });
    if (told === 'done') return true;
    // It is coming to rest: it is resumed when it rests.
    if (told === 'over') await finished(run);
    const { origin } = (await store.run(run)) ?? {};
    return origin?.kind === 'sub-plan' ? wake(origin.run, origin.node) : false;
  }

  return {
    async answer(id, given, by) {
      const answered = await decisions.answer(id, given, by);
      if (!answered.ok) return answered;
      const { run, decision } = answered.value;
      if (limitOf(decision) !== undefined) {
        const done = await answerLimit(run, decision);
        return done.ok ? ok(decision) : done;
      }
      const goingOn = wake(run, decision.node).then(async told => {
        // A run that a person paused stays paused: it takes the answer when it is resumed.
        const isPaused = (await store.run(run))?.status === 'paused';
        return told || isPaused || !resumesOnAnswer ? undefined : resume(run);
      });
      // The answer is durable: its caller does not wait for a stuck thread.
      await within(machine.timers, TOLD_MS, goingOn);
      return ok(decision);
    },
    async deliverLate(run) {
      for (const { decision } of await store.decisions({ run, status: ['answered'] })) {
        if (decision.deliveredAt !== undefined || limitOf(decision) === undefined) continue;
        // Resuming a run that was to be stopped overrides that answer.
        if (raisedLimit(decision) === undefined) await decisions.deliver(run, decision.id);
        else {
          const done = await deliver(run, decision);
          if (!done.ok) return done;
        }
      }
      return ok(undefined);
    },
  };
}
