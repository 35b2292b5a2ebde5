import { canonicalJson, defined, type Json } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { ARTIFACT } from '../artifacts/artifact-book.ts';
import { createEffectRegistry, type EffectCall, type EffectReport } from '../effects/effect-registry.ts';
import { callAuthor } from '../errors/noted-reads.ts';
import { thrownPlace } from '../errors/thrown-place.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { asPlanError, EffectLoopError, PlanError } from '../plan-error.ts';
import type { Renderer } from '../render/renderer.ts';
import { type AppliedAction, flush } from '../state/flush.ts';
import type { Activity } from '../structure/structure.ts';
import { FILE_WRITE } from '../workspaces/file-book.ts';
import type { EngineBase, PlanCode } from './engine.ts';
import { STATE, stateFault, VOLATILE } from './plan-context.ts';
import { putStatus } from './plan-view.ts';
import { lastFrame } from './run-memory.ts';

/** The effects phase of frames. */
export interface EffectRound {
  nodesChanged(mounted: readonly PlanNode[], unmounted: readonly string[]): void;
  /** The frame's effects: those whose place was reached, and those of components. */
  calls(activity: Activity, renderer: Renderer): readonly EffectCall[];
  isDue(calls: readonly EffectCall[]): boolean;
  /** Returns the first error. Effects that ran are in the ledger with what they wrote. */
  run(calls: readonly EffectCall[]): PlanError | undefined;
  /**
   * The reason for frames caused only by effects: effects that ran again and again because of their own writes, since work ended or input
   * arrived. They count as failed; undefined if effects are not the reason.
   */
  loop(): PlanError | undefined;
  /** Work ended or input arrived. */
  forgetHistory(): void;
  /** Whether an effect of the plan may still act. */
  readonly any: boolean;
  close(): void;
}

/** How often an effect must have run to count as the reason for frame after frame. */
const LOOPING = 3;

/** Component effects have no node; this prefix keeps their ids apart from those of nodes. */
const HOOK = 'effect:';

export function createEffectRound({ options, memory, queue, moment }: EngineBase): EffectRound {
  const { ledger, records } = memory;
  const strict = options.strictEffects === true;
  const recorded = options.recorded?.effect;
  const written = new Map<string, Set<string>>();
  /** How often each effect ran since then, and with which last dependencies. */
  const runs = new Map<string, { readonly count: number; readonly call: EffectCall }>();
  const wroteOf = (id: string) => {
    const names = written.get(id) ?? new Set<string>();
    for (const key of queue.takeLate(id)) names.add(writtenName(key));
    written.set(id, names);
    return [...names];
  };
  const registry = createEffectRegistry({ memory: memory.effects, strict, wroteOf });
  const nodes = new Set<string>();

  const tell = ({ id, what, deps, held, error }: EffectReport) => {
    const fields = { node: id as NodeKey, effect: id, frame: lastFrame(memory) };
    const thrown = error === undefined ? undefined : thrownPlace(error, {}, memory.clean);
    if (what === 'failed')
      ledger.event('effect.failed', { ...fields, error: error?.message ?? 'unknown', ...defined({ thrown }) });
    else ledger.event(what === 'ran' ? 'effect.ran' : 'effect.cleaned', fields);
    if (what === 'cleaned') return;
    const row = { status: what === 'ran' ? 'succeeded' : 'failed', iteration: 0, effect: { deps, held } } as const;
    records.set(id, memory.clean(row));
    putStatus(memory, id, row);
  };

  return {
    nodesChanged(mounted, unmounted) {
      for (const id of unmounted) nodes.delete(id);
      for (const { kind, id } of mounted) if (kind === 'effect') nodes.add(id);
    },
    calls(activity, renderer) {
      const calls = [
        ...activity.effects.map(({ id, data, code, source, reads }) => ({
          id,
          deps: data.deps,
          source,
          reads,
          ...code,
        })),
        ...renderer.effects().map(call => ({ ...call, deps: memory.clean(call.deps), id: HOOK + call.id })),
      ];
      return recorded === undefined ? calls : calls.map(recorded);
    },
    isDue: calls => registry.isDue(calls),
    run(calls) {
      const here = new Set([...nodes, ...calls.map(call => call.id)]);
      const left = [...registry.ids].filter(id => !here.has(id));
      const removed = registry.remove(left);
      for (const id of left) {
        if (!id.startsWith(HOOK)) continue;
        records.delete(id);
        putStatus(memory, id, undefined);
      }
      const known = new Map(calls.map(call => [call.id, call]));
      const ran = registry.run(calls, (id, code) => {
        const call = known.get(id);
        if (call !== undefined) runs.set(id, { count: (runs.get(id)?.count ?? 0) + 1, call });
        const origin = { node: id, handler: 'effect', trigger: `effect.${id}` };
        const { value, keys } = queue.transact(origin, () =>
          callAuthor({ kind: 'effect', id, ...defined({ source: call?.source, reads: call?.reads }) }, code),
        );
        written.set(id, new Set([...wroteOf(id), ...keys.map(writtenName)]));
        return value;
      });
      const reports = [...removed, ...ran];
      reports.forEach(tell);
      const failed = reports.find(report => report.error !== undefined);
      return failed?.error === undefined
        ? undefined
        : asPlanError(failed.error, 'plan/effect-failed', { ...moment(), node: failed.id });
    },
    loop() {
      const looping = [...runs].filter(([id, { count }]) => count >= LOOPING && wroteOf(id).length > 0);
      const [first] = looping;
      if (first === undefined) return undefined;
      const named = looping.map(
        ([id, { count }]) => `effect ${id} ran ${count} times and wrote ${wroteOf(id).join(', ')}`,
      );
      const error = new EffectLoopError(
        'plan/effect-loop',
        `${named.join('; ')}, without any work or input in between`,
        { source: first[1].call.source },
      );
      for (const [id, { call }] of looping) {
        tell({ id, what: 'failed', deps: canonicalJson(call.deps), held: false, error });
      }
      return asPlanError(error, 'plan/effect-loop', { ...moment(), node: first[0] });
    },
    forgetHistory() {
      registry.forgetHistory();
      runs.clear();
      written.clear();
    },
    get any() {
      return registry.ids.size > 0;
    },
    close() {
      registry.close();
    },
  };
}

/** The author's name for a queue key. */
function writtenName(key: string): string {
  if (key.startsWith(STATE)) return `state '${key.slice(STATE.length)}'`;
  if (key.startsWith(VOLATILE)) return `volatile state '${key.slice(VOLATILE.length)}'`;
  return key.startsWith(FILE_WRITE) ? `file '${key.slice(FILE_WRITE.length)}'` : 'an artifact';
}

interface StateFlush {
  /** Anything that a render may show has changed. */
  readonly changed: boolean;
  /** Transactions that failed. */
  readonly failed: ReadonlyMap<number, PlanError>;
}

/** Where queued changes besides state go. */
type FlushOutlets = Pick<PlanCode, 'files' | 'artifacts'>;

/** Applies the queue as one step: to what renders read, to files, and to the ledger for the next commit. */
export function flushState({ options, memory, queue }: EngineBase, outlets: FlushOutlets): StateFlush {
  const actions = queue.take();
  if (actions.length === 0) return { changed: false, failed: new Map() };
  const { state, volatile, ledger, digest } = memory;
  const isDurable = (key: string) => key.startsWith(STATE);
  const apply = (chosen: typeof actions) =>
    flush(
      chosen,
      key => {
        if (isDurable(key)) return state.peek(key.slice(STATE.length));
        return key.startsWith(VOLATILE) ? volatile.peek(key.slice(VOLATILE.length)) : undefined;
      },
      (key, value) => {
        const fault = isDurable(key) ? stateFault(options.plan, key.slice(STATE.length), value) : undefined;
        return fault === undefined ? undefined : new PlanError('plan/state-invalid', fault);
      },
      // File contents are written unchanged.
      (key, value) => (key.startsWith(FILE_WRITE) ? value : memory.clean(value)),
    );
  let flushed = apply(actions);
  const unwritten = writeFiles(flushed.applied, outlets);
  if (unwritten.size > 0) {
    const { failed } = flushed;
    flushed = apply(actions.filter(({ transaction }) => !unwritten.has(transaction)));
    flushed = { ...flushed, failed: new Map([...failed, ...flushed.failed, ...unwritten]) };
  }
  const { changes, applied, failed } = flushed;
  const durable = new Map<string, Json | undefined>();
  const passing = new Map<string, Json | undefined>();
  for (const [placed, value] of changes) {
    if (placed.startsWith(FILE_WRITE) || placed.startsWith(ARTIFACT)) continue;
    if (!isDurable(placed)) {
      passing.set(placed.slice(VOLATILE.length), value);
      continue;
    }
    const key = placed.slice(STATE.length);
    durable.set(key, value);
    ledger.put('state', key, value);
    digest.set('state', key, value);
  }
  for (const action of applied) {
    if (action.key.startsWith(ARTIFACT)) outlets.artifacts.keep(action.key.slice(ARTIFACT.length), action.node);
    if (!isDurable(action.key)) continue;
    const key = action.key.slice(STATE.length);
    const index = ledger.transition(action, key);
    ledger.event('state.changed', {
      frame: action.frame,
      index,
      key,
      trigger: action.trigger,
      ...(action.node === '' ? {} : { node: action.node as never }),
      ...(action.handler === undefined ? {} : { handler: action.handler }),
    });
    memory.lastChanges = [...memory.lastChanges, { key, frame: action.frame, trigger: action.trigger }].slice(-3);
  }
  if (durable.size > 0) state.write(durable);
  if (passing.size > 0) volatile.write(passing);
  // A written file may be one that a render read.
  const isShown = (key: string) => !key.startsWith(ARTIFACT);
  return { changed: [...changes.keys()].some(isShown), failed };
}

/** Files are written last: only if everything else in their transaction is valid. */
function writeFiles(applied: readonly AppliedAction[], outlets: FlushOutlets): ReadonlyMap<number, PlanError> {
  const failed = new Map<number, PlanError>();
  for (const action of applied) {
    if (!action.key.startsWith(FILE_WRITE) || failed.has(action.transaction)) continue;
    const error = outlets.files.write(action.key.slice(FILE_WRITE.length), action.new ?? null, action);
    if (error !== undefined) failed.set(action.transaction, error);
  }
  return failed;
}
