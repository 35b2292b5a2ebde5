import { canonicalJson } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { createEffectRegistry, type EffectCall, type EffectReport } from '../effects/effect-registry.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { asPlanError, EffectLoopError, type PlanError } from '../plan-error.ts';
import type { Renderer } from '../render/renderer.ts';
import type { Activity } from '../structure/structure.ts';
import { FILE_WRITE } from '../workspaces/file-book.ts';
import type { EngineBase } from './engine.ts';
import { putStatus } from './frame-rows.ts';
import { STATE, VOLATILE } from './plan-context.ts';
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
    if (what === 'failed') ledger.event('effect.failed', { ...fields, error: error?.message ?? 'unknown' });
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
        ...activity.effects.map(({ id, data, code, source }) => ({ id, deps: data.deps, source, ...code })),
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
        const { value, keys } = queue.transact({ node: id, handler: 'effect', trigger: `effect.${id}` }, code);
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
