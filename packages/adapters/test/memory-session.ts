import type { Json, JsonObject, Resolution } from '@signalbox/model';
import type { AgentQuestion, AgentSession, CallReport, ModelName, UsageRecord } from '@signalbox/runs';
import { usageRecord } from '@signalbox/runs';

type Spent = Omit<UsageRecord, 'node' | 'task' | 'at'>;
const spentRecord = usageRecord.omit({ node: true, task: true, at: true });

/** What survives the attempts of one task, as a store would keep it. */
export interface MemoryTask {
  readonly kept: Json[];
  readonly spent: Map<string, Spent>;
  readonly questions: Map<string, AgentQuestion>;
  readonly answers: Map<string, Resolution>;
  readonly streamed: { readonly kind: string; readonly payload: Json }[];
  readonly admitted: ModelName[];
  /** What came back with each place that was given back. */
  readonly released: (CallReport | undefined)[];
  /** Questions that an attempt waits for at this moment. */
  readonly waiting: Map<string, (answer: Resolution | undefined) => void>;
  /** Resolves as soon as an attempt waits for this many answers, with the last question. */
  asked(count?: number): Promise<AgentQuestion>;
  /** Resolves when an agent has streamed this. */
  said(text: string): Promise<void>;
  /** The time that an attempt waits for an answer is over. */
  park(): void;
  /** Answers every question the same, also those that are asked later. */
  answerAll(resolution: Partial<Resolution> & Pick<Resolution, 'resolutionType'>): void;
  /** Answers a question by its title as soon as it is asked. */
  answerOnce(title: string, resolution: Partial<Resolution> & Pick<Resolution, 'resolutionType'>): void;
  /** Answers a question by the name of its tool. */
  answer(tool: string, resolution: Partial<Resolution> & Pick<Resolution, 'resolutionType'>): void;
  /** A session for the next attempt. */
  session(options?: SessionOptions): AgentSession & { abort(): void; operations(): number };
}

export interface SessionOptions {
  /** Throws right after this many durable operations are done, or right before. */
  readonly stop?: { readonly at: number; readonly when: 'before' | 'after' };
  /** Admits nothing any more. */
  readonly stopReason?: string;
  readonly waits?: string;
}

/** The process died here. */
export class Died extends Error {
  override readonly name = 'Died';
}

const PLAIN = { rationale: '', actionKind: 'update' } as const;

export function createMemoryTask(): MemoryTask {
  let ready: (question: AgentQuestion) => Resolution | undefined = () => undefined;
  const hearers: { readonly text: string; readonly resolve: () => void }[] = [];
  let listeners: { readonly count: number; readonly resolve: (question: AgentQuestion) => void }[] = [];
  const task: MemoryTask = {
    kept: [],
    spent: new Map(),
    questions: new Map(),
    answers: new Map(),
    streamed: [],
    admitted: [],
    released: [],
    waiting: new Map(),
    asked(count = 1) {
      const last = [...task.waiting.keys()].at(-1);
      const question = last === undefined ? undefined : task.questions.get(last);
      if (question !== undefined && task.waiting.size >= count) return Promise.resolve(question);
      return new Promise(resolve => listeners.push({ count, resolve }));
    },
    said(text) {
      if (task.streamed.some(({ payload }) => payload === text)) return Promise.resolve();
      return new Promise(resolve => hearers.push({ text, resolve }));
    },
    park() {
      for (const settle of [...task.waiting.values()]) settle(undefined);
    },
    answerAll(resolution) {
      for (const { proposal } of task.questions.values()) task.answer((proposal as { tool: string }).tool, resolution);
      ready = () => ({ ...PLAIN, ...resolution });
    },
    answerOnce(title, resolution) {
      ready = ({ proposal }) =>
        (proposal as { title?: string }).title === title ? { ...PLAIN, ...resolution } : undefined;
    },
    answer(tool, resolution) {
      for (const [call, question] of task.questions) {
        if ((question.proposal as { tool: string }).tool !== tool) continue;
        const answer = { ...PLAIN, ...resolution };
        task.answers.set(call, answer);
        task.waiting.get(call)?.(answer);
      }
    },
    session({ stop, stopReason, waits } = {}) {
      const aborter = new AbortController();
      let operations = 0;
      const durable = async (work: () => void) => {
        const now = operations++;
        if (stop?.at === now && stop.when === 'before') throw new Died();
        work();
        // What is durable is plain data: it is there as it was, whatever becomes of what it was made from.
        if (stop?.at === now && stop.when === 'after') throw new Died();
        if (stop !== undefined && now > stop.at) throw new Error('the dead do not work');
      };
      return {
        signal: aborter.signal,
        abort: () => aborter.abort(),
        operations: () => operations,
        transcript: async () => structuredClone(task.kept),
        async keep(messages) {
          await durable(() => {
            task.kept.push(...structuredClone(messages));
          });
          return messages;
        },
        stream: (kind, payload) => {
          task.streamed.push({ kind, payload });
          for (const { text, resolve } of hearers) if (text === payload) resolve();
        },
        async admit(model) {
          if (stopReason !== undefined)
            return { kind: 'stop', reason: stopReason, ...(waits !== undefined && { waits }) };
          task.admitted.push(model);
          return { kind: 'go', release: report => void task.released.push(report) };
        },
        spend: usage =>
          durable(() => {
            if (!task.spent.has(usage.call)) task.spent.set(usage.call, spentRecord.parse(usage));
          }),
        async decide(question) {
          await durable(() => {
            if (!task.questions.has(question.call)) task.questions.set(question.call, structuredClone(question));
            const answer = ready(question);
            if (answer !== undefined && !task.answers.has(question.call)) task.answers.set(question.call, answer);
          });
          return task.answers.get(question.call);
        },
        async answered(question) {
          const known = await this.decide(question);
          if (known !== undefined || aborter.signal.aborted) return known;
          return new Promise(resolve => {
            const settle = (answer: Resolution | undefined) => {
              task.waiting.delete(question.call);
              resolve(answer);
            };
            task.waiting.set(question.call, settle);
            aborter.signal.addEventListener('abort', () => settle(undefined), { once: true });
            const isHeard = ({ count }: { readonly count: number }) => task.waiting.size >= count;
            for (const { resolve: tell } of listeners.filter(isHeard)) tell(question);
            listeners = listeners.filter(listener => !isHeard(listener));
          });
        },
      };
    },
  };
  return task;
}

/** The kept entries of a kind, in order. */
export function entriesOf<T = JsonObject>(task: MemoryTask, kind: string): readonly T[] {
  const kept: readonly unknown[] = task.kept;
  return kept.filter(entry => (entry as { kind?: Json }).kind === kind) as readonly T[];
}
