import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { type Filesystem, filesystem } from '../filesystem/filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import { shownPath } from '../filesystem/path-name.ts';
import { type FileInUse, inUseWords } from '../layers/files-in-use.ts';
import type { HeldChanges, HeldChoice } from '../layers/held-changes.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import { createCallCheckpoints } from './call-checkpoints.ts';
import type { Verdict } from './call-verdict.ts';
import type { AnyTool } from './tool.ts';
import type { ToolOutcome } from './tool-outcome.ts';

export type HeldCallError = StateError | LockError | ErrorEnvelope<'state/changes-unknown'>;

/** The held changes of a call; undefined if there are none. */
export function heldCall(state: ExecutionState, callId: string): HeldChanges | undefined {
  return state.resources.get(filesystem)?.layering?.held(callId);
}

/** The held changes of a call compared with the current directory, if that has changed since they were shown. */
export async function heldCallNow(
  state: ExecutionState,
  callId: string,
): ReturnType<NonNullable<Filesystem['layering']>['heldNow']> {
  return state.resources.get(filesystem)?.layering?.heldNow(callId);
}

/**
 * Ends a call with held changes as a person chose. If the directory has changed since it was shown, nothing is applied, and
 * the held changes are updated to show it.
 */
export async function settleHeldCall(options: {
  readonly state: ExecutionState;
  readonly locks: PathLocks;
  readonly tool: AnyTool;
  readonly callId: string;
  readonly choice: HeldChoice;
  /** Who chose. Without a person, changes that git would run are not applied. */
  readonly by?: 'person' | 'plan';
  readonly signal?: AbortSignal;
}): Promise<Result<ToolOutcome, HeldCallError>> {
  const { state, tool, callId, choice } = options;
  const files = state.resources.get(filesystem);
  const held = files?.layering?.held(callId);
  if (files?.layering === undefined || held === undefined) return err(unknownChanges(callId));
  const lock = await options.locks.acquire(files.lockPath, 'exclusive', options.signal);
  if (!lock.ok) return lock;
  try {
    const done = await files.layering.settleHeld(callId, choice, {
      ...(options.by && { by: options.by }),
      startedAt: state.clock.now(),
      checkpoints: state.checkpoints?.file ?? null,
    });
    if (!done.ok) return done;
    if (done.value.kind === 'dropped') return ok(droppedOutcome(callId, tool.name, held));
    const { images, applied, stretches, inUse } = done.value;
    const metadata = { toolCallId: callId, toolName: tool.name, phase: 'pre_tool' as const };
    const pre = await state.snapshot({ tag: `pre:${callId}`, metadata, files: { tree: images.before } });
    const left = choice === 'apply-rest' ? [...new Set(held.conflicts.map(({ of }) => of))] : [];
    const verdict: Verdict = {
      outcome: { status: 'succeeded', value: held.call.value ?? null, warnings: notesOf(choice, left, held, inUse) },
      succeeded: true,
      deadline: false,
    };
    const call = { id: callId, name: tool.name, input: null };
    // How long the person took is not the call's time.
    const elapsedMs = state.checkpoints?.get(callId)?.elapsedMs ?? undefined;
    const after = { files: { tree: images.after }, stretches, elapsedMs };
    const recorded = await createCallCheckpoints(state).after(call, tool, pre.ok ? pre.value : null, verdict, after);
    await applied.finish();
    return ok(recorded.outcome);
  } finally {
    lock.value();
  }
}

function notesOf(
  choice: HeldChoice,
  left: readonly string[],
  { conflicts }: HeldChanges,
  inUse: readonly FileInUse[],
): readonly string[] {
  if (conflicts.length === 0) return [];
  if (choice === 'apply-all')
    return [
      ...(conflicts.some(({ theirs }) => theirs !== 'open')
        ? ['Someone else had changed the same files. A person chose to replace their versions.']
        : []),
      ...inUse.map(
        file => `${inUseWords(file)}. A person chose to replace it anyway: what is written there from now on is lost.`,
      ),
    ];
  const named = left.map(shownPath).join(', ');
  return [
    `Someone else changed ${named} meanwhile. A person chose to keep those changes; everything else was applied.`,
  ];
}

function droppedOutcome(callId: string, tool: string, { conflicts }: HeldChanges): ToolOutcome {
  const why =
    conflicts.length === 0
      ? `a person chose to drop the changes of call ${callId} of ${tool}`
      : `someone else changed the same files while call ${callId} of ${tool} ran, and a person chose to drop its changes`;
  const error = failure('tool/conflict', {
    message: why,
    suggestion: 'Read the current files before continuing.',
  });
  return { status: 'failed', error, rollback: { kind: 'dropped' } };
}

function unknownChanges(callId: string): ErrorEnvelope<'state/changes-unknown'> {
  return failure('state/changes-unknown', {
    message: `call ${callId} has no changes that wait for a decision`,
    suggestion: 'They were already applied or dropped.',
  });
}
