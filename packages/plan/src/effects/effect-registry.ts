import { canonicalJson, type Json } from '@signalbox/model';
import { asPlanError, EffectLoopError, PlanError, type SourcePosition } from '../plan-error.ts';

/** An effect of a frame, from an `Effect` node or from `ctx.effect`. */
export interface EffectCall {
  readonly id: string;
  readonly deps: readonly Json[];
  readonly run: () => unknown;
  readonly cleanup?: () => void;
  readonly source?: SourcePosition | undefined;
  /** The keys that the render which made it read. */
  readonly reads?: ReadonlySet<string> | undefined;
}

/** What a resumed run knows about an effect. */
export interface EffectMemory {
  /** The canonical text of the dependencies of its last run. */
  readonly deps: string;
  /** Whether it holds a resource of its process, which a new process must set up again. */
  readonly held: boolean;
}

export interface EffectReport {
  readonly id: string;
  readonly what: 'ran' | 'cleaned' | 'failed';
  readonly deps: string;
  readonly held: boolean;
  readonly error?: PlanError;
}

/**
 * Runs effects after the commit. An effect runs when its dependencies, as canonical JSON, differ from those of its last run; it is cleaned
 * up first.
 */
export interface EffectRegistry {
  /** `transact` wraps each call of the author's code in a transaction of the effect. */
  run(calls: readonly EffectCall[], transact: (id: string, code: () => unknown) => unknown): readonly EffectReport[];
  /** Whether `run` would call anything. */
  isDue(calls: readonly EffectCall[]): boolean;
  /** The effects left the plan. */
  remove(ids: Iterable<string>): readonly EffectReport[];
  /** Call it when work ended or input arrived: then running again with the same dependencies is not a loop. */
  forgetHistory(): void;
  readonly ids: ReadonlySet<string>;
  close(): readonly EffectReport[];
}

const HISTORY = 10;
const LOOP_THRESHOLD = 3;

export function createEffectRegistry(
  options: {
    readonly strict?: boolean;
    readonly memory?: ReadonlyMap<string, EffectMemory>;
    /** What an effect wrote since work ended or input arrived, for error messages. */
    readonly wroteOf?: (id: string) => readonly string[];
  } = {},
): EffectRegistry {
  const last = new Map<string, string>();
  for (const [id, memory] of options.memory ?? []) if (!memory.held) last.set(id, memory.deps);
  const cleanups = new Map<string, () => void>();
  let history: string[] = [];
  const ids = new Set<string>(last.keys());

  const cleanUp = (id: string): EffectReport | undefined => {
    const cleanup = cleanups.get(id);
    cleanups.delete(id);
    if (cleanup === undefined) return undefined;
    const report = { id, deps: last.get(id) ?? '[]', held: true };
    try {
      cleanup();
      return { ...report, what: 'cleaned' };
    } catch (error) {
      return { ...report, what: 'failed', error: asPlanError(error, 'plan/effect-failed', { node: id }) };
    }
  };

  const runOnce = (call: EffectCall, transact: (id: string, code: () => unknown) => unknown) => {
    const made = transact(call.id, call.run);
    if (isThenable(made)) {
      made.then(undefined, () => {});
      throw new PlanError('plan/effect-failed', `effect ${call.id} must not be async; start the work and return`);
    }
    const returned = typeof made === 'function' ? (made as () => void) : undefined;
    if (returned !== undefined || call.cleanup !== undefined) {
      cleanups.set(call.id, () => {
        returned?.();
        call.cleanup?.();
      });
    }
  };

  const isDue = (call: EffectCall) => last.get(call.id) !== canonicalJson(call.deps);

  return {
    ids,
    isDue: calls => calls.some(isDue),
    run(calls, transact) {
      const reports: EffectReport[] = [];
      for (const call of calls) {
        if (!isDue(call)) continue;
        const deps = canonicalJson(call.deps);
        const cleaned = cleanUp(call.id);
        if (cleaned !== undefined) reports.push(cleaned);
        try {
          checkLoop(call, deps);
          runOnce(call, transact);
          if (options.strict === true) {
            const between = cleanUp(call.id);
            if (between?.error !== undefined) throw between.error;
            runOnce(call, transact);
          }
          reports.push({ id: call.id, what: 'ran', deps, held: cleanups.has(call.id) });
        } catch (error) {
          reports.push({
            id: call.id,
            what: 'failed',
            deps,
            held: false,
            error: asPlanError(error, 'plan/effect-failed', { node: call.id }),
          });
        }
        last.set(call.id, deps);
        ids.add(call.id);
      }
      return reports;
    },
    remove(gone) {
      return [...gone].flatMap(id => {
        const report = cleanUp(id);
        last.delete(id);
        ids.delete(id);
        return report === undefined ? [] : [report];
      });
    },
    forgetHistory() {
      history = [];
    },
    close: () => [...cleanups.keys()].flatMap(id => cleanUp(id) ?? []),
  };

  function checkLoop({ id, source }: EffectCall, deps: string): void {
    const signature = `${id} ${deps}`;
    const count = history.filter(entry => entry === signature).length;
    history = [...history, signature].slice(-HISTORY);
    if (count < LOOP_THRESHOLD) return;
    const wrote = options.wroteOf?.(id) ?? [];
    const what = wrote.length === 0 ? 'it wrote nothing itself' : `it wrote ${wrote.join(', ')}`;
    throw new EffectLoopError(
      'plan/effect-loop',
      `effect ${id} was triggered ${count + 1} times with the same dependencies ${deps}; ${what}`,
      { source },
    );
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
