import { issuesText, type Json, type Timestamp, thrownMessage, tryCanonicalJson } from '@signalbox/model';
import type * as z from 'zod';
import type { ArtifactAccess } from '../artifacts/artifact-access.ts';
import type { PlanContext, QueryAccess, WriteOptions } from '../context.ts';
import type { AnyPlan } from '../plan-definition.ts';
import { type ErrorContext, PlanError, RenderPhaseWriteError } from '../plan-error.ts';
import { askForEffect, isRendering, type Readable } from '../render/tracked.ts';
import type { Action } from '../state/action.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import { frozen } from '../state/frozen.ts';
import type { FileAccess } from '../workspaces/plan-files.ts';
import type { WorkspacePlace } from '../workspaces/workspace-access.ts';

/** Durable and volatile actions share one queue and one transaction; the first letter of a key tells them apart. */
export const STATE = 's:';
export const VOLATILE = 'v:';

export interface ContextParts {
  readonly plan: AnyPlan;
  readonly input: unknown;
  readonly state: Readable;
  readonly volatile: Readable;
  readonly queue: ActionQueue;
  readonly db: QueryAccess;
  readonly fs: FileAccess;
  readonly workspace: WorkspacePlace | undefined;
  readonly artifact: ArtifactAccess;
  now(): Timestamp;
  random(): number;
  /** The context of an error. */
  moment(): ErrorContext;
}

export function createPlanContext(parts: ContextParts): PlanContext<unknown, Record<string, Json>> {
  const { plan, state, volatile, queue } = parts;

  const write = (name: string, action: Action, options?: WriteOptions) => {
    if (isRendering()) {
      throw new RenderPhaseWriteError(
        'plan/render-write',
        `${name} cannot be called during a render; use an Effect or a handler`,
        {
          context: parts.moment(),
        },
      );
    }
    queue.push(action, options?.trigger);
  };
  const known = (key: string) => {
    if (!Object.hasOwn(plan.state.shape, key)) {
      throw new PlanError('plan/state-invalid', `the state of plan ${plan.name} has no key '${key}'`, {
        context: parts.moment(),
      });
    }
    return key;
  };
  const checked = (key: string, value: unknown): Json => {
    const plain = frozen(value);
    if (!plain.ok) {
      throw new PlanError('plan/state-invalid', `'${key}' was given what is not plain data: ${plain.error}`, {
        context: parts.moment(),
      });
    }
    const unfit = stateFault(plan, key, plain.value);
    if (unfit !== undefined) throw new PlanError('plan/state-invalid', unfit, { context: parts.moment() });
    return plain.value;
  };
  const plainly = (key: string, value: unknown): Json => {
    const plain = frozen(value);
    if (plain.ok) return plain.value;
    throw new PlanError('plan/state-invalid', `volatile '${key}' was given what is not plain data: ${plain.error}`, {
      context: parts.moment(),
    });
  };

  return {
    input: parts.input,
    state: {
      get: key => state.read(known(key)) as Json,
      set: (key, value, options) =>
        write('ctx.state.set', { kind: 'set', key: STATE + known(key), value: checked(key, value) }, options),
      update: (key, reduce, options) =>
        write(
          'ctx.state.update',
          { kind: 'update', key: STATE + known(key), reduce: reduce as (value: Json | undefined) => unknown },
          options,
        ),
      delete: (key, options) => write('ctx.state.delete', { kind: 'delete', key: STATE + known(key) }, options),
      init(key, value) {
        if (state.peek(known(key)) !== undefined) return;
        queue.push({ kind: 'init', key: STATE + key, value: checked(key, value) }, 'init');
      },
    },
    vol: {
      get: key => volatile.read(key),
      set: (key, value) => write('ctx.vol.set', { kind: 'set', key: VOLATILE + key, value: plainly(key, value) }),
      update: (key, reduce) => write('ctx.vol.update', { kind: 'update', key: VOLATILE + key, reduce }),
      delete: key => write('ctx.vol.delete', { kind: 'delete', key: VOLATILE + key }),
    },
    db: parts.db,
    fs: parts.fs,
    workspace: parts.workspace,
    artifact: parts.artifact,
    now: () => parts.now(),
    random: () => parts.random(),
    effect(id, deps, run) {
      const given = Array.isArray(deps) ? tryCanonicalJson(deps) : undefined;
      if (given?.ok !== true || typeof run !== 'function') {
        throw new PlanError('plan/effect-failed', `ctx.effect('${id}') takes a list of plain data and a function`, {
          context: parts.moment(),
        });
      }
      if (askForEffect({ id, deps, run })) return;
      throw new PlanError('plan/effect-failed', `ctx.effect('${id}') can only be called during a render`, {
        context: parts.moment(),
      });
    },
  };
}

/** Why a value does not fit its key; undefined if it does. */
export function stateFault(plan: AnyPlan, key: string, value: Json): string | undefined {
  const schema = plan.state.shape[key] as z.ZodType | undefined;
  if (schema === undefined) return `the state of plan ${plan.name} has no key '${key}'`;
  const fits = parsedBy(schema, value);
  if (typeof fits === 'string') return `'${key}' cannot be checked, its schema in plan ${plan.name} throws: ${fits}`;
  if (fits.success) return undefined;
  const [first, ...more] = fits.error.issues;
  const place = [key, ...(first?.path.map(String) ?? [])].join('.');
  const others =
    more.length === 0
      ? ''
      : `; ${issuesText(
          more.map(issue => ({ ...issue, path: [key, ...issue.path] })),
          key,
        )}`;
  return `'${place}' does not fit the state of plan ${plan.name}: ${first?.message}${others}`;
}

/** The result of an author's schema, or what it threw: refinements are code. */
function parsedBy(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> | string {
  try {
    return schema.safeParse(value);
  } catch (error) {
    return thrownMessage(error);
  }
}

/** Numbers from 0 up to 1, repeatable by seed and frame. SplitMix32; not for keys. */
export function frameRandom(seed: number, frame: number): () => number {
  let state = (Math.imul(seed ^ 0x5bd1_e995, 0x9e37_79b1) ^ Math.imul(frame + 1, 0x85eb_ca6b)) >>> 0;
  return () => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}
