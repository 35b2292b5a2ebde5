import { type ErrorEnvelope, type Json, ok, type Result, type RunId, thrownText } from '@signalbox/model';
import type { CommandAnswer, PlanOutline, PlanPreview, SignalFault, Timers } from '@signalbox/plan';
import type { OwnToolCall, OwnToolReply, StopVerdict } from '@signalbox/runs';
import type { ReplayJob, RunReplay } from '../replay/replay-job.ts';
import type { RunReport, VerifyJob } from '../run-journal/verify-run.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';
import { basicEnvironment } from './basic-environment.ts';
import { planEnvironment } from './plan-environment.ts';
import { createKnownPlans } from './plan-key.ts';
import { createPlanSeats, type Seat, type ThreadLost } from './plan-seats.ts';
import type { ThreadTime } from './plan-thread.ts';
import { type Launch, MEMORY_MB } from './plan-worker-start.ts';
import { PortClosedError } from './port-calls.ts';
import type { DriveEnd, DriveJob, PlanFacts, PlanSource, RunCommand, ThreadHost } from './thread-api.ts';

export type { ThreadLost } from './plan-seats.ts';

/**
 * The threads that drive the runs of a process, many runs each.
 *
 * T1  A thread that spins, dies or runs out of memory is replaced. Its runs continue, each in its own thread.
 * T2  A run that was alone in a lost thread is to blame, and is returned with the reason.
 * T3  Only a run's commits are carried over: it continues as after a crash.
 * T4  A command does not wait for a thread that does not answer: the thread is ended, and the command is applied to the run's commits. A
 *     run to be halted is returned with the command; any other continues and obeys.
 */
export interface PlanThreads {
  /** Calls a tool that a run's plan brings along. Rejects if its thread is gone. */
  callTool(run: RunId, execution: string, call: OwnToolCall): Promise<OwnToolReply>;
  abortTool(run: RunId, execution: string, call: string): void;

  load(source: PlanSource, input: Json): Promise<Result<PlanFacts, ErrorEnvelope> | ThreadLost>;
  describe(source: PlanSource): Promise<Result<PlanOutline, ErrorEnvelope> | ThreadLost>;
  preview(source: PlanSource, input: Json): Promise<Result<PlanPreview, ErrorEnvelope> | ThreadLost>;
  stateFault(
    source: PlanSource,
    key: string,
    value: Json | undefined,
  ): Promise<Result<string | undefined, ErrorEnvelope> | ThreadLost>;
  /** Why a run's plan ignores a signal. `source` is used if nothing drives the run. */
  signalFault(
    run: RunId,
    signal: { readonly name: string; readonly payload: Json },
    source: () => Promise<Result<PlanSource | undefined, ErrorEnvelope>>,
  ): Promise<Result<SignalFault | undefined, ErrorEnvelope> | ThreadLost>;
  /** Replays a recorded run. */
  replay(job: ReplayJob): Promise<Result<readonly RunReplay[], ErrorEnvelope> | ThreadLost>;
  /** Checks the record of a run. */
  verify(job: VerifyJob): Promise<Result<RunReport, ErrorEnvelope> | ThreadLost>;
  /** `again` returns the job with which a run continues that lost its thread. */
  drive(job: DriveJob, again: () => Promise<DriveJob>): Promise<DriveEnd | ThreadLost | Halted>;
  /** The result of the command; undefined if nothing drives the run. */
  command(run: RunId, command: RunCommand): Promise<CommandAnswer | undefined>;
  /** The run is about to be driven: a thread that was started ahead for it reads its values. */
  readValues(run: RunId, database: string): void;
  limit(run: RunId, verdict: StopVerdict): void;
  /** A run of a sub-plan is where its parent is. */
  adopt(run: RunId, parent: RunId, driven: boolean): void;
  progress(run: RunId, execution: string, progress: { readonly summary: string; readonly fraction?: number }): void;
  close(): void;
}

/** Commands that halt a run. */
type HaltCommand = Extract<RunCommand, { readonly kind: 'pause' | 'stop' | 'terminate' }>;

/** The thread did not answer and was ended; the command is still to be applied. */
export interface Halted {
  readonly status: 'halted';
  readonly command: HaltCommand;
}

export interface PlanThreadsOptions {
  readonly timers: Timers;
  /** How many threads share the runs of one plan; runs that lost theirs have more. */
  readonly threads: number;
  readonly beatMs?: number;
  /** How long a thread may stay silent, with several runs, with a single run, and while loading a plan, in the thread's time. */
  readonly sharedSilenceMs?: number;
  readonly aloneSilenceMs?: number;
  readonly loadSilenceMs?: number;
  /** How long loading a plan may take, in the thread's time. */
  readonly loadMs?: number;
  readonly threadTime?: ThreadTime | undefined;
  readonly memoryMb?: number;
  /** Where compiled modules of plans are cached, if anywhere. */
  readonly cacheDirectory?: string | undefined;
  /** How threads recognise secrets, in their input and output. */
  readonly secrets?: SharedSecrets | undefined;
  /** The source of plan environments, besides the basics of the process; defaults to that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Starts a thread at once: one will be needed. */
  readonly warm?: boolean | undefined;
  readonly launch?: Launch | undefined;
}

const BEAT_MS = 250;
const SHARED_SILENCE_MS = 1000;
const ALONE_SILENCE_MS = 60_000;
const LOAD_SILENCE_MS = 10_000;
/** A plan whose import does not end reports that earlier itself; this is for one that broke its thread. */
const LOAD_MS = 60_000;

/** How long a command waits before it asks for a sign of life, how long for that, and how long it waits for a live thread. */
const PATIENCE = { answerMs: 1000, pingMs: 1000, livingMs: Number.POSITIVE_INFINITY };
const STOP_PATIENCE = { answerMs: 300, pingMs: 300, livingMs: 5000 };

/** Where a run is driven, from one thread's view; undefined if nothing drives it. */
export type DrivenWhere = (run: RunId) => 'here' | 'elsewhere' | undefined;

export function openPlanThreads(newHost: (where: DrivenWhere) => ThreadHost, options: PlanThreadsOptions): PlanThreads {
  const { timers, threads, aloneSilenceMs = ALONE_SILENCE_MS, loadSilenceMs = LOAD_SILENCE_MS } = options;
  const { loadMs = LOAD_MS } = options;
  const hostOf = (seat: () => Seat) =>
    newHost(run => {
      const its = seatOf.get(run);
      if (its === undefined) return undefined;
      return its === seat() ? 'here' : 'elsewhere';
    });
  const seats = createPlanSeats(hostOf, {
    timers,
    threadTime: options.threadTime,
    threads,
    beatMs: options.beatMs ?? BEAT_MS,
    sharedSilenceMs: options.sharedSilenceMs ?? SHARED_SILENCE_MS,
    memoryMb: options.memoryMb ?? MEMORY_MB,
    cacheDirectory: options.cacheDirectory,
    secrets: options.secrets,
    launch: options.launch,
  });
  const plans = createKnownPlans();
  // A copy: reading a variable of the process takes as long as a hundred of these.
  const env = { ...basicEnvironment(process.env), ...(options.env ?? process.env) };
  const told = new WeakMap<Seat, string>();
  /** By what is loaded and then driven: a run has one environment. */
  const environments = new WeakMap<PlanSource, ReturnType<typeof planEnvironment>>();
  const seatOf = new Map<RunId, Seat>();
  /** Runs that lost their thread and are about to get another. */
  const moving = new Map<RunId, Promise<unknown>>();
  const halting = new Map<RunId, HaltCommand>();

  /** Passes a thread the environment of the plan whose code it is about to run. */
  function ready(seat: Seat, source: PlanSource): Seat {
    const variables = environments.get(source) ?? planEnvironment(source, env);
    environments.set(source, variables);
    const text = JSON.stringify(variables);
    if (variables.ok && told.get(seat) !== text) seat.thread.calls.tell('environment', variables.value);
    told.set(seat, text);
    return seat;
  }

  async function drive(first: DriveJob, again: () => Promise<DriveJob>): Promise<DriveEnd | ThreadLost | Halted> {
    const { run } = first;
    let job = first;
    halting.delete(run);
    for (let isAlone = false; ; isAlone = true) {
      const seat = isAlone ? seats.takeOwn() : seats.take(plans.keyOf(job.source));
      seatOf.set(run, seat);
      moving.delete(run);
      const ended = await seats.work(seat, run, aloneSilenceMs, () =>
        unbroken(seat, () => ready(seat, job.source).thread.calls.call('drive', job)),
      );
      seatOf.delete(run);
      if (seat.isOwn) seat.thread.end('its run has ended');
      const halt = halting.get(run);
      if (halt !== undefined && (ended === undefined || ended.status === 'thread-lost')) {
        halting.delete(run);
        return { status: 'halted', command: halt };
      }
      if (ended !== undefined) return ended;
      const next = again();
      moving.set(
        run,
        next.catch(() => undefined),
      );
      job = await next;
    }
  }

  /** A thread that throws where our code cannot throw, or returns an invalid answer, was broken by its plan. */
  async function unbroken<T>(seat: Seat, ask: () => Promise<T>): Promise<T | ThreadLost> {
    let why = 'it gave no answer';
    try {
      const answer = await ask();
      const { ok, status } = (answer ?? {}) as { readonly ok?: unknown; readonly status?: unknown };
      if (typeof ok === 'boolean' || typeof status === 'string') return answer;
    } catch (error) {
      if (error instanceof PortClosedError) throw error;
      why = thrownText(error);
    }
    broken(seat);
    return { status: 'thread-lost', reason: `the code of the plan broke it, ${why}` };
  }

  function broken(seat: Seat): void {
    seat.isPardoned = true;
    seat.thread.end('the code of a plan broke it');
  }

  /** Makes a request to a thread; if that is lost because of another occupant, to a dedicated one. */
  async function once<T>(seat: Seat, silenceMs: number, ask: (seat: Seat) => Promise<T>): Promise<T | ThreadLost> {
    const who = Symbol('question');
    const answer = await seats.work(seat, who, silenceMs, () => ask(seat));
    if (answer !== undefined) return answer;
    const own = seats.takeOwn();
    const second = await seats.work(own, who, silenceMs, () => ask(own));
    own.thread.end('it has answered');
    return second ?? { status: 'thread-lost', reason: (await own.lost).reason };
  }

  const seatFor = (source: PlanSource): Seat => {
    const plan = plans.keyOf(source);
    return plan === undefined && source.kind === 'file' ? seats.takeForFile(source.file) : seats.take(plan);
  };
  const about = <T>(source: PlanSource, ask: (seat: Seat) => Promise<T>, silenceMs = aloneSilenceMs) =>
    once(seatFor(source), silenceMs, seat => unbroken(seat, () => ask(ready(seat, source))));

  /** Loading a plan runs its code, which may wait for something that never comes. */
  async function loading<T>({ thread }: Seat, ask: () => Promise<T>): Promise<T> {
    const cancel = thread.limit(loadMs, `it did not load the plan in ${loadMs / 1000} s`);
    return ask().finally(cancel);
  }

  const load = (source: PlanSource, input: Json): ReturnType<PlanThreads['load']> =>
    about(
      source,
      async seat => {
        const loaded = await loading(seat, () => seat.thread.calls.call('load', source, input));
        if (loaded.ok) seat.plan ??= plans.learn(source, loaded.value.closure);
        return loaded;
      },
      loadSilenceMs,
    );

  async function command(run: RunId, given: RunCommand): Promise<CommandAnswer | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      await moving.get(run);
      const seat = seatOf.get(run);
      if (seat === undefined) return isFirst ? undefined : 'over';
      const answer = await askSeat(seat, run, given, isFirst);
      if (answer !== 'lost') return answer;
      if (isHalt(given)) return 'over';
    }
  }

  async function askSeat(seat: Seat, run: RunId, given: RunCommand, mayEnd: boolean): Promise<CommandAnswer | 'lost'> {
    if (isHalt(given)) halting.set(run, given);
    const asked = seat.thread.calls.call('command', run, given);
    const attended = mayEnd || isHalt(given) ? attend(seat, given, asked) : undefined;
    try {
      const answer: CommandAnswer | undefined = await asked;
      if (answer === undefined) throw new TypeError('it gave no answer');
      halting.delete(run);
      return answer;
    } catch (error) {
      // A run that breaks its dedicated thread is to blame.
      if (!(error instanceof PortClosedError) && !seat.isOwn) broken(seat);
      seat.thread.end('the code of a plan broke it');
      await attended;
      await seat.lost;
      // The driver learns of the loss at the same moment, and determines the cause.
      await new Promise<void>(resolve => timers.after(0, resolve));
      if (seatOf.get(run) === seat) seatOf.delete(run);
      return 'lost';
    }
  }

  /** Ends a thread that does not answer while a command waits for it. */
  async function attend(seat: Seat, given: RunCommand, asked: Promise<unknown>): Promise<void> {
    // Their content is durable: a thread that gets them late, or its replacement, finds it.
    if (given.kind === 'wake' || given.kind === 'input') return;
    const isStop = given.kind === 'stop' || given.kind === 'terminate';
    const { answerMs, pingMs, livingMs } = isStop ? STOP_PATIENCE : PATIENCE;
    let isAnswered = false;
    let wake = () => {};
    const settled = () => {
      isAnswered = true;
      wake();
    };
    asked.then(settled, settled);
    for (let waitedMs = 0; ; waitedMs += answerMs) {
      await new Promise<void>(resolve => {
        const cancel = timers.after(answerMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
      if (isAnswered) return;
      const lives = await seat.thread.answers(pingMs);
      if (isAnswered) return;
      if (lives && waitedMs < livingMs) continue;
      seat.isPardoned = true;
      seat.thread.end('it did not answer a command');
      return;
    }
  }

  if (options.warm === true) seats.warm();
  return {
    drive,
    load,
    command,
    // Versions of one plan are the same author's code.
    replay: job =>
      once(seats.take(undefined), aloneSilenceMs, seat => {
        const source = job.versions.at(-1);
        if (source !== undefined) ready(seat, source);
        return unbroken(seat, () => seat.thread.calls.call('replay', job));
      }),
    verify: job => once(seats.take(undefined), aloneSilenceMs, seat => seat.thread.calls.call('verify', job)),
    describe: source => about(source, seat => loading(seat, () => seat.thread.calls.call('describe', source))),
    preview: (source, input) => about(source, seat => seat.thread.calls.call('preview', source, input)),
    stateFault: (source, key, value) => about(source, seat => seat.thread.calls.call('stateFault', source, key, value)),
    async signalFault(run, { name, payload }, source) {
      const seat = seatOf.get(run);
      try {
        const told =
          seat && (await unbroken(seat, () => seat.thread.calls.call('signalFault', run, undefined, name, payload)));
        if (told !== undefined && !('status' in told) && (!told.ok || told.value !== 'not-driven'))
          return told as Result<SignalFault | undefined, ErrorEnvelope>;
      } catch (error) {
        if (!(error instanceof PortClosedError)) throw error;
      }
      const kept = await source();
      if (!kept.ok) return kept;
      const asked = kept.value;
      if (asked === undefined) return ok(undefined);
      const told = await about(asked, ({ thread }) => thread.calls.call('signalFault', run, asked, name, payload));
      return 'ok' in told && told.ok && told.value === 'not-driven'
        ? ok(undefined)
        : (told as Result<SignalFault | undefined, ErrorEnvelope>);
    },
    readValues(run, database) {
      seats.warmed()?.thread.calls.tell('readValues', run, database);
    },
    limit(run, verdict) {
      seatOf.get(run)?.thread.calls.tell('limit', run, verdict);
    },
    adopt(run, parent, driven) {
      const seat = driven ? seatOf.get(parent) : undefined;
      if (seat === undefined) seatOf.delete(run);
      else seatOf.set(run, seat);
    },
    async callTool(run, execution, call) {
      const seat = seatOf.get(run);
      if (seat === undefined) throw new PortClosedError('nothing drives the run of the tool');
      return seat.thread.calls.call('callTool', execution, call);
    },
    abortTool(run, execution, call) {
      seatOf.get(run)?.thread.calls.tell('abortTool', execution, call);
    },
    progress(run, execution, progress) {
      seatOf.get(run)?.thread.calls.tell('progress', execution, progress);
    },
    close: seats.close,
  };
}

function isHalt(command: RunCommand): command is HaltCommand {
  return command.kind === 'pause' || command.kind === 'stop' || command.kind === 'terminate';
}
