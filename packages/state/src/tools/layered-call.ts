import { defined, failure, type Json, json } from '@signalbox/model';
import type { FilesystemSnapshot } from '../filesystem/filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import { shownPath } from '../filesystem/path-name.ts';
import { EMPTY_DIRECTORY } from '../filesystem/tree.ts';
import { programWords } from '../git/program-words.ts';
import { inUseWords } from '../layers/files-in-use.ts';
import type { HeldChanges } from '../layers/held-changes.ts';
import type { InnerCalls } from '../layers/inner-calls.ts';
import { type LayerEntry, LayerRefused, type NoLayerError, OtherLayerNeeded } from '../layers/layer.ts';
import type { LayerApplied, LayerFailed, Layering } from '../layers/layering.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import type { CallCheckpoints } from './call-checkpoints.ts';
import type { Verdict } from './call-verdict.ts';
import type { HandlerEnd } from './handler-run.ts';
import type { AnyTool } from './tool.ts';
import type { ProviderToolCall } from './tool-runner.ts';

/** What a call on a layer needs from the runner. */
export interface LayeredCallOptions {
  readonly state: ExecutionState;
  readonly locks: PathLocks;
  readonly lockPath: string;
  readonly evaluation: string;
  readonly layering: Layering;
  readonly checkpoints: CallCheckpoints;
  readonly signal: AbortSignal | undefined;
  /** It works on a copy where there is no layer; if that cannot be had either, it is refused. */
  readonly canCopy: boolean;
  refused(error: NoLayerError): Verdict;
  /** The calls of a program on a copy are not told apart. */
  handle(layer: LayerEntry, inner: InnerCalls | undefined): Promise<HandlerEnd>;
  judge(end: HandlerEnd): Verdict;
  /** Commits the session's changes. */
  commit(verdict: Verdict): Verdict;
  notLocked(error: LockError): Verdict;
}

/**
 * A call that works on a layer of its root. Undefined if it could not, and nothing was run.
 *
 * 1. Nothing in the root changes while it runs, and nobody waits for it.
 * 2. Unless it succeeds, its layer is simply dropped.
 * 3. If it succeeds, its changes are applied as a whole under the root's lock, or held for a person to decide.
 */
export async function runOnLayer(
  call: ProviderToolCall,
  tool: AnyTool,
  options: LayeredCallOptions,
): Promise<Verdict | undefined> {
  const verdict = await runOnce(call, tool, options);
  return verdict === OTHER_LAYER ? runOnLayer(call, tool, options) : verdict;
}

const OTHER_LAYER = 'other layer';

async function runOnce(
  call: ProviderToolCall,
  tool: AnyTool,
  options: LayeredCallOptions,
): Promise<Verdict | undefined | typeof OTHER_LAYER> {
  const { state, layering, checkpoints } = options;
  const owner = { id: call.id, tool: tool.name, evaluation: options.evaluation };
  const onLayer = await layering.open(owner);
  const opened = onLayer.ok || !options.canCopy ? onLayer : await layering.openCopy(onLayer.error.message, owner);
  if (!opened.ok) return options.canCopy ? options.refused(opened.error) : undefined;
  // A layer of this directory is refused by then, and a copy is made.
  const another = options.canCopy ? OTHER_LAYER : undefined;
  const layer = opened.value;
  const startedAt = state.clock.now();
  const inner = layer.copied === undefined ? layering.inner(layer, state) : undefined;
  let isHeld = false;
  try {
    const end = await options.handle(layer.entry, inner);
    if (end.kind === 'threw' && end.cause instanceof OtherLayerNeeded) return OTHER_LAYER;
    if (end.kind === 'threw' && end.cause instanceof LayerRefused) {
      layering.refuse(end.cause.message);
      return another;
    }
    const verdict = options.judge(end);
    // It left nothing behind, so running it again repeats nothing.
    if (end.kind === 'replied' && !verdict.succeeded && (await layering.mayBeToBlame(layer))) return another;
    if (!verdict.succeeded) return await ended(dropped(verdict), null);
    const lock = await options.locks.acquire(options.lockPath, 'exclusive', options.signal);
    if (!lock.ok) return options.notLocked(lock.error);
    try {
      const result = await layering.settle(layer, {
        ...{ id: call.id, tool: tool.name, startedAt, evaluation: options.evaluation },
        checkpoints: state.checkpoints?.file ?? null,
        ...(verdict.outcome.status === 'succeeded' && { value: plain(verdict.outcome.value) }),
        ...defined({ hold: wantedHold(end), inner }),
      });
      if (result.kind === 'failed') {
        return await ended(notApplied(options.judge({ kind: 'threw', cause: result.error }), result), null);
      }
      if (result.kind === 'held') {
        isHeld = true;
        return await ended(heldVerdict(call, result.held), null);
      }
      return await concluded(result, verdict);
    } finally {
      lock.value();
    }
  } finally {
    if (isHeld) layer.leave();
    else layer.drop();
  }

  async function concluded(result: LayerApplied, succeeded: Verdict): Promise<Verdict> {
    const verdict = options.commit(succeeded);
    if (!verdict.succeeded) {
      const back = await result.applied.takeBack();
      return ended(back.ok ? dropped(verdict) : withRollback(verdict, { kind: 'failed', error: back.error }), null);
    }
    const recorded = await ended(verdict, result);
    await result.applied.finish();
    return recorded;
  }

  async function ended(verdict: Verdict, result: LayerApplied | null): Promise<Verdict> {
    const pre = await before({ tree: result?.images.before ?? NOTHING_KNOWN });
    const left = result === null ? {} : { files: { tree: result.images.after }, stretches: result.stretches };
    return checkpoints.after(call, tool, pre, verdict, { ...left, elapsedMs: state.clock.now() - startedAt });
  }

  async function before(files: FilesystemSnapshot): Promise<CompositeSnapshot | null> {
    const metadata = { toolCallId: call.id, toolName: tool.name, phase: 'pre_tool' as const };
    const pre = await state.snapshot({ tag: `pre:${call.id}`, metadata, files });
    return pre.ok ? pre.value : null;
  }
}

function wantedHold(end: HandlerEnd): true | 'if-not-applied' | undefined {
  const hold = end.kind === 'replied' ? (end.reply as { readonly hold?: unknown }).hold : undefined;
  return hold === true || hold === 'if-not-applied' ? hold : undefined;
}

function plain(value: unknown): Json {
  const parsed = json.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** A tree of which nothing is known. */
const NOTHING_KNOWN = { ...EMPTY_DIRECTORY, partial: true as const };

function dropped(verdict: Verdict): Verdict {
  return withRollback(verdict, { kind: 'dropped' });
}

function notApplied(verdict: Verdict, { kept }: LayerFailed): Verdict {
  if (kept === undefined) return dropped(verdict);
  return withRollback(verdict, { kind: 'restored', opaqueChanged: [], lost: [], left: kept.paths, kept });
}

function withRollback(
  verdict: Verdict,
  rollback: Extract<Verdict['outcome'], { status: 'failed' }>['rollback'],
): Verdict {
  if (verdict.outcome.status !== 'failed') return verdict;
  return { ...verdict, outcome: { ...verdict.outcome, rollback } };
}

const SHOWN = 10;

function heldVerdict(call: ProviderToolCall, held: HeldChanges): Verdict {
  const paths = [...new Set(held.conflicts.map(({ path }) => path))];
  if (paths.length === 0) {
    const failed = held.failed === undefined ? '' : ` because they could not be applied: ${held.failed}`;
    const git = held.programs === undefined ? '' : `: they change ${programWords(held.programs)}`;
    const waits = failure('tool/conflict', {
      message: `call ${call.id} of ${call.name} succeeded, and its changes wait for a person${failed}${git}`,
      suggestion: 'They are kept until a person decides.',
    });
    return {
      outcome: { status: 'failed', error: waits, rollback: { kind: 'held', held } },
      succeeded: false,
      deadline: false,
    };
  }
  const inUse = held.conflicts.flatMap(({ path, theirs, by = [] }) => {
    if (theirs === 'mounted') return [`${shownPath(path)} is on another file system that is mounted there`];
    return theirs === 'open' ? [`${inUseWords({ path, kind: 'file', by })} and would lose what it writes later`] : [];
  });
  if (inUse.length === held.conflicts.length) {
    const more = inUse.length > SHOWN ? ` and ${inUse.length - SHOWN} more` : '';
    const error = failure('tool/conflict', {
      message: `call ${call.id} of ${call.name} succeeded, but ${inUse.slice(0, SHOWN).join('; ')}${more}, so none of its changes were applied`,
      suggestion: 'Its changes are kept until a person decides.',
      details: { paths: paths.slice(0, SHOWN).map(shownPath), total: paths.length },
    });
    return {
      outcome: { status: 'failed', error, rollback: { kind: 'held', held } },
      succeeded: false,
      deadline: false,
    };
  }
  const named = paths.slice(0, SHOWN).map(path => (path === '' ? '.' : shownPath(path)));
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  const error = failure('tool/conflict', {
    message: `call ${call.id} of ${call.name} succeeded, but someone else changed ${named.join(', ')}${more} meanwhile, so none of its changes were applied`,
    suggestion: 'Its changes are kept until a person decides.',
    details: { paths: named, total: paths.length },
  });
  return { outcome: { status: 'failed', error, rollback: { kind: 'held', held } }, succeeded: false, deadline: false };
}
