import {
  type ErrorEnvelope,
  type GivenAnswer,
  type Json,
  type Result,
  type RunId,
  type RunStatus,
  type RunSummary,
  resolutionGiven,
  type WireDecision,
  type WireEvent,
  type WireFault,
  type wireLimits,
} from '@signalbox/model';
import type * as z from 'zod';
import type { Client } from './client.ts';
import { SignalboxError } from './signalbox-error.ts';
import type { News } from './watch.ts';

/** What the type of a plan says of its runs: give `typeof plan`, of the plan that the file exports. */
export interface PlanTypes {
  readonly input: z.ZodType;
  readonly state: z.ZodObject;
}

/** A run at one moment. */
export interface RunFacts {
  readonly id: string;
  readonly name: string;
  readonly status: RunStatus;
  /** The file of its plan. */
  readonly plan: string | undefined;
  readonly tags: readonly string[];
  /** Of a completed run. */
  readonly output: Json | undefined;
  /** Of a failed run. */
  readonly error: WireFault | undefined;
  /** Of a run that was stopped or paused. */
  readonly reason: string | undefined;
  readonly openQuestions: number;
  readonly createdAt: string;
  readonly endedAt: string | undefined;
}

/** Something that waits for a person. */
export interface Question {
  readonly id: string;
  readonly run: string;
  readonly node: string;
  readonly kind: WireDecision['decision']['kind'];
  readonly prompt: string;
  /** What can be chosen; empty if it is to be approved or denied, or asks for a value. */
  readonly options: readonly { readonly id: string; readonly label?: string }[];
  /** Everything that the person is to see. */
  readonly proposal: Json;
  readonly askedAt: string;
  /** Refused if what was shown has changed since. */
  answer(given: GivenAnswer): Promise<void>;
}

/** An event of a run; its other fields depend on its type. */
export type RunEvent = WireEvent;

export interface StartOptions {
  readonly name?: string;
  readonly tags?: readonly string[];
  /** The same key starts one run, however often it is given: the others get that one. */
  readonly key?: string;
  readonly correlationId?: string;
  readonly limits?: z.input<typeof wireLimits>;
  /** Where agents work; the folder of the plan without it. */
  readonly directory?: string;
}

export interface PlanHandle<Plan extends PlanTypes = PlanTypes> {
  /** Resolves when the run is durable. */
  start(input: z.input<Plan['input']>, options?: StartOptions): Promise<RunHandle<Plan>>;
}

export interface RunHandle<Plan extends PlanTypes = PlanTypes> {
  readonly id: string;
  facts(): Promise<RunFacts>;
  /** Waits until it completed, failed, was stopped or stalled; waiting for a person or a restart is no end. */
  finished(options?: { readonly signal?: AbortSignal }): Promise<RunFacts>;
  /** Its durable state, now or in a frame. */
  state(frame?: number): Promise<Partial<z.output<Plan['state']>>>;
  questions(): Promise<readonly Question[]>;
  /** Answers what a node asks. */
  answer(node: string, given: GivenAnswer): Promise<void>;
  /** Calls back for each event, once and in order, over lost connections and restarts; from the first one with `from: 0`. */
  subscribe(tell: (event: RunEvent) => void, options?: { readonly from?: number }): () => void;
  signal(name: string, payload?: Json): Promise<void>;
  pause(): Promise<void>;
  resume(options?: { readonly useCurrent?: boolean }): Promise<void>;
  stop(reason?: string): Promise<void>;
  retry(node: string): Promise<void>;
  cancel(node: string): Promise<void>;
}

/** The runs of a server. */
export interface Signalbox {
  /** Every operation of the server, with errors as values. */
  readonly client: Client;
  plan<Plan extends PlanTypes = PlanTypes>(file: string | URL): PlanHandle<Plan>;
  run<Plan extends PlanTypes = PlanTypes>(id: string): RunHandle<Plan>;
  /** Newest first. */
  runs(filter?: RunsFilter): Promise<readonly RunFacts[]>;
  /** What waits for a person, oldest first. */
  questions(): Promise<readonly Question[]>;
  /** Answers a question by its id. */
  answer(question: string, given: GivenAnswer): Promise<void>;
  /** Calls back for each question once: those that wait now, and each new one. */
  onQuestion(tell: (question: Question) => void): () => void;
  /** Calls back with every change of any run. */
  subscribe(tell: (run: RunFacts) => void): () => void;
  /** Ends all subscriptions. */
  close(): void;
}

export interface RunsFilter {
  readonly status?: readonly RunStatus[];
  readonly name?: string;
  readonly tag?: string;
  readonly correlationId?: string;
  readonly limit?: number;
}

export interface HandleOptions {
  /** The files of plans are named as at the command line of the server's machine, which needs its owner's token. */
  readonly anyFile: boolean;
}

/** Handles on the runs that a client reaches. Everything that fails is thrown as a `SignalboxError`. */
export function handlesOf(client: Client, { anyFile }: HandleOptions): Signalbox {
  const stops = new Set<() => void>();

  /** Watches until it is stopped; `ended` hears if nothing more can come. */
  function watch(run: RunId | 'all', tell: (news: News) => void, options: { readonly from?: number } = {}): () => void {
    const watching = client.watch(run, tell, { ...options, outline: true });
    const stop = () => {
      stops.delete(stop);
      watching.close();
    };
    stops.add(stop);
    return stop;
  }

  function questionOf({ approvalId: id, runId, decision }: WireDecision): Question {
    const { node, kind, proposal, proposalHash, askedAt } = decision;
    const { prompt = '', options = [] } = proposal as Partial<Pick<Question, 'prompt' | 'options'>>;
    return {
      ...{ id, run: runId, node, kind, prompt, options, proposal, askedAt },
      async answer(given) {
        taken(await client.resolve(id, { resolution: resolutionGiven(given), proposalHash }));
      },
    };
  }

  async function questions(run?: string): Promise<readonly Question[]> {
    const all: Question[] = [];
    for (let after: string | undefined; ; ) {
      const page = taken(await client.decisions({ status: 'open', ...(run && { run }), ...(after && { after }) }));
      all.push(...page.approvals.map(questionOf));
      after = page.next;
      if (after === undefined) return all;
    }
  }

  async function answer(open: readonly Question[], name: string, given: GivenAnswer): Promise<void> {
    const question = open.find(({ id, node }) => id === name || node === name);
    if (question === undefined) throw new Error(`Nothing asks as "${name}"; open: ${namesOf(open)}.`);
    await question.answer(given);
  }

  function run<Plan extends PlanTypes>(given: string): RunHandle<Plan> {
    const id = given as RunId;
    const facts = async () => {
      const found = taken(await client.run(id));
      return factsOf(found, found.output);
    };
    return {
      id,
      facts,
      finished: ({ signal } = {}) =>
        new Promise<void>((resolve, reject) => {
          const end = (settle: () => void) => {
            stop();
            signal?.removeEventListener('abort', abort);
            settle();
          };
          const abort = () => end(() => reject(signal?.reason));
          const stop = watch(id, news => {
            if (news.kind === 'connection' && news.status === 'ended')
              end(() => reject(new SignalboxError(news.error)));
            const status = statusIn(news);
            if (status !== undefined && hasEnded(status)) end(resolve);
          });
          if (signal?.aborted) abort();
          signal?.addEventListener('abort', abort, { once: true });
        }).then(facts),
      state: async frame => taken(await client.state(id, frame)).state as Partial<z.output<Plan['state']>>,
      questions: () => questions(id),
      answer: async (node, given) => answer(await questions(id), node, given),
      subscribe: (tell, options) =>
        watch(
          id,
          news => {
            if (news.kind === 'event') tell(news.stored.event);
          },
          options,
        ),
      signal: async (name, payload) => done(await client.signal(id, name, payload)),
      pause: async () => done(await client.pause(id)),
      resume: async ({ useCurrent } = {}) =>
        done(await client.resume(id, { ...(useCurrent && { useCurrent, ...(anyFile && { anyFile }) }) })),
      stop: async reason => done(await client.stop(id, reason)),
      retry: async node => done(await client.retry(id, node)),
      cancel: async node => done(await client.cancel(id, node)),
    };
  }

  return {
    client,
    plan: <Plan extends PlanTypes>(file: string | URL): PlanHandle<Plan> => ({
      async start(input, { key, tags, ...options } = {}) {
        const body = {
          ...options,
          file: pathOf(file),
          input: input as Json,
          ...(tags && { tags: [...tags] }),
          ...(anyFile && { anyFile }),
        };
        const started = await client.start(body, key === undefined ? {} : { idempotencyKey: key });
        return run<Plan>(taken(started).record.id);
      },
    }),
    run,
    async runs({ status, ...filter } = {}) {
      const found = taken(await client.runs({ ...filter, ...(status && { status: [...status] }) }));
      return found.runs.map(one => factsOf(one, undefined));
    },
    questions: () => questions(),
    answer: async (id, given) => answer(await questions(), id, given),
    onQuestion(tell) {
      const told = new Set<string>();
      let isLooking = false;
      let isDue = false;
      let isOver = false;
      const look = async () => {
        while (isDue && !isOver) {
          isDue = false;
          // What cannot be read now is read after the next change, or when the connection is back.
          const open = await questions().catch(() => []);
          for (const question of open) {
            if (isOver || told.has(question.id)) continue;
            told.add(question.id);
            tell(question);
          }
        }
        isLooking = false;
      };
      const stop = watch('all', news => {
        if (news.kind !== 'runs' && news.kind !== 'run') return;
        if (news.kind === 'run' && news.summary.openDecisions === 0) return;
        isDue = true;
        if (isLooking) return;
        isLooking = true;
        void look();
      });
      return () => {
        isOver = true;
        stop();
      };
    },
    subscribe: tell =>
      watch('all', news => {
        if (news.kind === 'run') tell(factsOf(news.summary, undefined));
      }),
    close() {
      for (const stop of [...stops]) stop();
    },
  };
}

const ENDS: readonly RunStatus[] = ['completed', 'failed', 'stopped', 'stalled'];
const hasEnded = (status: RunStatus) => ENDS.includes(status);

/** The status that a message about one run tells. */
function statusIn(news: News): RunStatus | undefined {
  if (news.kind === 'state') return news.snapshot.record.status;
  return news.kind === 'run' ? news.summary.record.status : undefined;
}

function factsOf({ record, openDecisions }: RunSummary, output: Json | undefined): RunFacts {
  const { id, name, status, entry, tags, error, stopReason, createdAt, endedAt } = record;
  return {
    ...{ id, name, status, plan: entry, tags, output, error, reason: stopReason },
    ...{ openQuestions: openDecisions, createdAt, endedAt },
  };
}

function taken<T>(answer: Result<T, ErrorEnvelope>): T {
  if (answer.ok) return answer.value;
  throw new SignalboxError(answer.error);
}

function done(answer: Result<unknown, ErrorEnvelope>): void {
  taken(answer);
}

function namesOf(open: readonly Question[]): string {
  return open.length === 0 ? 'nothing' : open.map(({ node }) => `"${node}"`).join(', ');
}

/** The path of a file; a browser has no function for it. */
function pathOf(file: string | URL): string {
  if (typeof file === 'string') return file;
  const path = decodeURIComponent(file.pathname);
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
}
