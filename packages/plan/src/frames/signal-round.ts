import { err, ok, type Result, thrownMessage } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { nodeIdOf, ROOT_PATH } from '../nodes/node-id.ts';
import type { AnyPlan, PlanSignal } from '../plan-definition.ts';
import { asPlanError, PlanError } from '../plan-error.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import type { Signal } from './run-inputs.ts';
import type { RunMemory } from './run-memory.ts';

/** The handlers that a plan has for signals. They belong to the plan, so its root stands for them in the log. */
export interface SignalRound {
  /** Those that the plan has a handler for; others are ignored. */
  known(signals: readonly Signal[]): readonly Signal[];
  /** Calls each handler in a transaction of its own. */
  take(signals: readonly Signal[]): void;
  /** After the flush: which handlers ran, and which came to nothing. */
  settle(failed: ReadonlyMap<number, PlanError>): void;
}

/** Why a plan does not take a signal. */
export type SignalFault =
  | { readonly kind: 'unknown'; readonly plan: string; readonly known: readonly string[] }
  | { readonly kind: 'invalid'; readonly plan: string; readonly place: string; readonly why: string };

/** Why a plan would do nothing with a signal, or undefined where it has a handler that takes the payload. */
export function signalFault(plan: AnyPlan, name: string, payload: unknown): SignalFault | undefined {
  const signals = plan.signals ?? {};
  if (!Object.hasOwn(signals, name)) return { kind: 'unknown', plan: plan.name, known: Object.keys(signals) };
  const parsed = parsedPayload(signals[name]?.schema, payload);
  return parsed.ok ? undefined : { kind: 'invalid', plan: plan.name, ...parsed.error };
}

interface Ran {
  readonly handler: string;
  readonly transaction?: number;
  readonly error?: PlanError;
}

export function createSignalRound(plan: AnyPlan, memory: RunMemory, queue: ActionQueue, context: unknown): SignalRound {
  const node = nodeIdOf(ROOT_PATH);
  let ran: Ran[] = [];

  function call({ name, payload }: Signal): void {
    const signal = plan.signals?.[name];
    if (signal === undefined) return;
    const trigger = `signal.${name}`;
    try {
      const { transaction } = queue.transact({ node, handler: trigger, trigger }, () => {
        const made: unknown = signal.handle(fitting(name, signal.schema, payload) as never, context as never);
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
    known: signals => signals.filter(({ name }) => Object.hasOwn(plan.signals ?? {}, name)),
    take: signals => signals.forEach(call),
    settle(failed) {
      const frame = Math.max(0, memory.nextFrame - 1);
      for (const { handler, transaction, error: thrown } of ran) {
        const error = thrown ?? failed.get(transaction ?? Number.NaN);
        const fields = { node: node as NodeKey, handler, frame };
        if (error === undefined) memory.ledger.event('handler.ran', fields);
        else memory.ledger.event('handler.failed', { ...fields, error: error.message });
      }
      ran = [];
    },
  };
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
