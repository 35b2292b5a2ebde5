import { defined, err, type Json, ok, type Result, thrownMessage } from '@signalbox/model';
import type { NodeKey, RunReader } from '@signalbox/runs';
import { callAuthor } from '../errors/noted-reads.ts';
import { thrownPlace } from '../errors/thrown-place.ts';
import { ROOT_ID } from '../nodes/node-id.ts';
import type { AnyPlan, PlanSignal } from '../plan-definition.ts';
import { asPlanError, PlanError } from '../plan-error.ts';
import type { EngineBase } from './engine.ts';
import { lastFrame } from './run-memory.ts';

export interface Signal {
  readonly name: string;
  readonly payload: Json;
}

/**
 * The signals of a run: events that others appended, and the plan's handlers for them.
 *
 * 1. The position of the first unread event is part of the run's record, and advances in the commit of the signals' effects: so a signal
 *    counts once, whichever process dies.
 * 2. Handlers belong to the plan, so its root stands for them in the log.
 */
export interface Signals {
  /** There may be signals. */
  expect(): void;
  /** New signals that have a handler, in order. Reads only if there may be any. */
  read(): Promise<readonly Signal[]>;
  /** Calls each handler in its own transaction. */
  take(signals: readonly Signal[]): void;
  /** After the flush: which handlers ran, and which failed. */
  settle(failed: ReadonlyMap<number, PlanError>): void;
  /** A commit of the run itself: its events are not input. */
  committed(nextSeq: number, own: number): void;
  /** How far the run has read, if its record should say so in the next commit. */
  toKeep(isEnd: boolean): number | undefined;
  /** Others wrote between our commits, which is not read yet. */
  readonly isDue: boolean;
}

const PAGE = 500;
/** A record that lags behind by more would make the next process read too much. */
const MAX_LAG = 1000;

interface Ran {
  readonly handler: string;
  readonly transaction?: number;
  readonly error?: PlanError;
}

/** `context` is passed to the plan's code. */
export function createSignals({ options, memory, queue }: EngineBase, context: unknown): Signals {
  const { run, plan, reader } = options;
  const handlers = plan.signals ?? {};
  const hasSignals = Object.keys(handlers).length > 0;
  let cursor = memory.record?.inputSeq ?? 0;
  let kept = cursor;
  let isDue = hasSignals && memory.record !== undefined;
  let isTaken = false;
  if (!hasSignals && memory.record !== undefined) cursor = memory.record.nextSeq;
  let ran: Ran[] = [];

  function call({ name, payload }: Signal): void {
    const signal = handlers[name];
    if (signal === undefined) return;
    const trigger = `signal.${name}`;
    try {
      const { transaction } = queue.transact({ node: ROOT_ID, handler: trigger, trigger }, () => {
        const fitted = fitting(name, signal.schema, payload);
        const made: unknown = callAuthor({ kind: `signal ${name}` }, () =>
          signal.handle(fitted as never, context as never),
        );
        if (!(made instanceof Promise)) return;
        made.catch(() => {});
        throw new PlanError('plan/handler-failed', `the handler of signal '${name}' must not be async`);
      });
      ran.push({ handler: trigger, transaction });
    } catch (cause) {
      ran.push({ handler: trigger, error: asPlanError(cause, 'plan/handler-failed') });
    }
  }

  return {
    expect() {
      isDue = hasSignals;
    },
    async read() {
      if (!isDue) return [];
      isDue = false;
      const signals: Signal[] = [];
      for (;;) {
        const events: Awaited<ReturnType<RunReader['events']>> = await reader.events(run, cursor, PAGE);
        for (const { event } of events) {
          if (event.type === 'signal.received') signals.push({ name: event.name, payload: event.payload });
        }
        cursor += events.length;
        if (events.length < PAGE) break;
      }
      isTaken ||= signals.length > 0;
      return signals.filter(({ name }) => Object.hasOwn(handlers, name));
    },
    take: signals => signals.forEach(call),
    settle(failed) {
      const frame = lastFrame(memory);
      for (const { handler, transaction, error: thrown } of ran) {
        const error = thrown ?? failed.get(transaction ?? Number.NaN);
        const fields = { node: ROOT_ID as NodeKey, handler, frame };
        if (error === undefined) memory.ledger.event('handler.ran', fields);
        else {
          const thrown = thrownPlace(error, {}, memory.clean);
          memory.ledger.event('handler.failed', { ...fields, error: error.message, ...defined({ thrown }) });
        }
      }
      ran = [];
    },
    committed(nextSeq, own) {
      if (!hasSignals || nextSeq - own === cursor) cursor = nextSeq;
      else isDue = true;
    },
    toKeep(isEnd) {
      if (cursor === kept) return undefined;
      if (!isTaken && !isEnd && (!hasSignals || cursor - kept < MAX_LAG)) return undefined;
      isTaken = false;
      kept = cursor;
      return cursor;
    },
    get isDue() {
      return isDue;
    },
  };
}

/** Why a plan refuses a signal. */
export type SignalFault =
  | { readonly kind: 'unknown'; readonly plan: string; readonly known: readonly string[] }
  | { readonly kind: 'invalid'; readonly plan: string; readonly place: string; readonly why: string };

/** Why a plan would ignore a signal; undefined if it has a handler that accepts the payload. */
export function signalFault(plan: AnyPlan, name: string, payload: unknown): SignalFault | undefined {
  const signals = plan.signals ?? {};
  if (!Object.hasOwn(signals, name)) return { kind: 'unknown', plan: plan.name, known: Object.keys(signals) };
  const parsed = parsedPayload(signals[name]?.schema, payload);
  return parsed.ok ? undefined : { kind: 'invalid', plan: plan.name, ...parsed.error };
}

function fitting(name: string, schema: PlanSignal['schema'], payload: unknown): unknown {
  const parsed = parsedPayload(schema, payload);
  if (parsed.ok) return parsed.value;
  const { place, why } = parsed.error;
  throw new PlanError('plan/handler-failed', `signal '${name}' does not fit its schema at ${place}: ${why}`);
}

function parsedPayload(
  schema: PlanSignal['schema'],
  payload: unknown,
): Result<unknown, { readonly place: string; readonly why: string }> {
  if (schema === undefined) return ok(payload);
  try {
    const parsed = schema.safeParse(payload);
    if (parsed.success) return ok(parsed.data);
    const [issue] = parsed.error.issues;
    const place = ['payload', ...(issue?.path.map(String) ?? [])].join('.');
    return err({ place, why: issue?.message ?? 'it does not fit' });
  } catch (error) {
    const what = thrownMessage(error);
    return err({ place: 'payload', why: `its schema threw: ${what}` });
  }
}
