import { timestampOf, truncateUtf8 } from '@signalbox/model';
import type { CheckpointStretch } from '../checkpoints/checkpoint-store.ts';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import { type Stretch, treesOf } from '../layers/stretch.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import type { Verdict } from './call-verdict.ts';
import type { AnyTool } from './tool.ts';
import type { ToolOutcome } from './tool-outcome.ts';
import type { ProviderToolCall } from './tool-runner.ts';

/** Takes and records snapshots of calls, if the state keeps checkpoints. */
export interface CallCheckpoints {
  /**
   * The state before a call without file effects. It reuses the last capture of files, because the call does not change them,
   * and captures them only if they never were.
   */
  before(call: ProviderToolCall, tool: AnyTool, signal?: AbortSignal): Promise<CompositeSnapshot | null>;
  /** Records how a call ended. An error here is a warning on the outcome, never a failure. */
  after(
    call: ProviderToolCall,
    tool: AnyTool,
    pre: CompositeSnapshot | null,
    verdict: Verdict,
    options: CheckpointOptions,
  ): Promise<Verdict>;
}

interface CheckpointOptions {
  /** Everything that the call may have changed, if known. */
  readonly paths?: readonly string[];
  /** The files after it, if known. */
  readonly files?: FilesystemSnapshot;
  /** Its file changes in order, if some of them belong to inner calls. */
  readonly stretches?: readonly Stretch[] | undefined;
  /** How long it took, if its first snapshot was not taken when it began. */
  readonly elapsedMs?: number | undefined;
  readonly durable?: boolean;
}

const SUMMARY_BYTES = 300;

export function createCallCheckpoints(state: ExecutionState): CallCheckpoints {
  const store = state.checkpoints;
  if (store === null) return withoutStore(state);
  const metadata = (call: ProviderToolCall, tool: AnyTool, phase: 'pre_tool' | 'post_tool') => ({
    tag: `${phase === 'pre_tool' ? 'pre' : 'post'}:${call.id}`,
    metadata: { toolCallId: call.id, toolName: tool.name, phase },
  });
  let last: CompositeSnapshot | undefined = store.list().at(-1)?.post ?? store.list().at(-1)?.pre;
  const startedAt = new Map<string, number>();

  return {
    async before(call, tool, signal) {
      startedAt.set(call.id, state.clock.now());
      const pre = await state.snapshot({
        ...metadata(call, tool, 'pre_tool'),
        signal,
        ...(last && { resourcesFrom: last }),
      });
      if (!pre.ok) return null;
      last = pre.value;
      return pre.value;
    },
    async after(call, tool, pre, verdict, { paths, files, stretches, elapsedMs, durable = true }) {
      const began = startedAt.get(call.id) ?? (pre === null ? null : Date.parse(pre.createdAt));
      startedAt.delete(call.id);
      if (pre === null) return warned(verdict, 'no checkpoint: the state before the call could not be captured');
      const post = verdict.succeeded
        ? await state.snapshot({
            ...metadata(call, tool, 'post_tool'),
            ...(tool.effects.kind === 'files'
              ? { ...(paths && { paths }), ...(files && { files }) }
              : { resourcesFrom: pre }),
          })
        : null;
      if (post !== null && !post.ok) return warned(verdict, `no checkpoint: ${post.error.message}`);
      last = post?.value ?? pre;
      try {
        await store.record(
          {
            toolCallId: call.id,
            toolName: tool.name,
            pre,
            post: post?.value ?? null,
            outcome: verdict.outcome.status,
            resultSummary: summaryOf(verdict.outcome, state.clean),
            elapsedMs: elapsedMs ?? (began === null ? null : state.clock.now() - began),
            recordedAt: timestampOf(state.clock),
            ...keptBy(verdict.outcome),
            ...(stretches && verdict.succeeded && { stretches: stretches.map(recordedStretch) }),
          },
          { durable },
        );
        return verdict;
      } catch (cause) {
        return warned(verdict, `the checkpoint will not survive a restart: ${thrownReason(cause)}`);
      }
    },
  };
}

function recordedStretch({ call, changes }: Stretch): CheckpointStretch {
  const { before, after } = treesOf(changes);
  return { ...(call && { call }), before: { tree: before }, after: { tree: after } };
}

/** Records nothing, but captures what a call left, because a later restore compares with it. */
function withoutStore(state: ExecutionState): CallCheckpoints {
  return {
    before: async () => null,
    async after(_call, tool, _pre, verdict, { paths, files }) {
      if (files === undefined && verdict.succeeded && tool.effects.kind === 'files') {
        await state.resources.get(filesystem)?.snapshot(paths === undefined ? {} : { paths });
      }
      return verdict;
    },
  };
}

/** A successful call stays successful, whatever fails after it. */
export function warned(verdict: Verdict, warning: string): Verdict {
  if (verdict.outcome.status !== 'succeeded') return verdict;
  return { ...verdict, outcome: { ...verdict.outcome, warnings: [...verdict.outcome.warnings, warning] } };
}

function keptBy(outcome: ToolOutcome): { readonly kept?: KeptFiles } {
  if (outcome.status !== 'failed' || outcome.rollback.kind !== 'restored') return {};
  return outcome.rollback.kept === undefined ? {} : { kept: outcome.rollback.kept };
}

function summaryOf(outcome: ToolOutcome, clean: (text: string) => string): string {
  const text = outcome.status === 'succeeded' ? jsonOf(outcome.value) : outcome.error.message;
  return truncateUtf8(clean(text), SUMMARY_BYTES);
}

/** A value that JSON cannot represent must not lose the checkpoint. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'done';
  } catch {
    return 'done';
  }
}
