import * as fs from 'node:fs';
import type { HostFiles } from '../filesystem/host-files.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import type { UndoRecord } from '../filesystem/undo-log.ts';
import { isPlace } from './apply-changes.ts';
import { type ApplyPlace, stepsDone, takeBackApply } from './apply-steps.ts';

/** The outcome of recovering changes that were being applied when their process died. */
export type ApplyRecovery =
  /** The call had succeeded: everything is applied. */
  | { readonly kind: 'applied'; readonly paths: readonly string[] }
  /** Nothing is applied, except at paths that somebody changed since: those are left alone. */
  | { readonly kind: 'taken-back'; readonly paths: readonly string[]; readonly left: readonly string[] }
  /** The root is missing or another directory now: nothing was touched. */
  | { readonly kind: 'root-moved' };

type LayerWork = Extract<UndoRecord['work'], { kind: 'layer' }>;

/** Finishes or reverts an apply. The checkpoint shows whether the call succeeded: it is written after the last step. */
export function recoverApply(callId: string, work: LayerWork, files: HostFiles): ApplyRecovery {
  const { root, staging, steps } = work;
  if (!isPlace(root, work.place)) return { kind: 'root-moved' };
  const place: ApplyPlace = { files, root, staging };
  const paths = [...new Set(steps.map(({ path }) => path))];
  const isOver = work.checkpoints !== null && hasSucceeded(work.checkpoints, callId);
  const left = isOver ? [] : takeBackApply(place, steps, stepsDone(place, steps));
  if (staging.startsWith(`${root}/`)) removeTree(files, staging);
  return isOver ? { kind: 'applied', paths } : { kind: 'taken-back', paths, left };
}

function hasSucceeded(log: string, callId: string): boolean {
  if (!fs.existsSync(log)) return false;
  return fs
    .readFileSync(log, 'utf8')
    .split('\n')
    .some(line => {
      if (!line.includes(callId)) return false;
      try {
        const { toolCallId, outcome } = JSON.parse(line) as { toolCallId?: unknown; outcome?: unknown };
        return toolCallId === callId && outcome === 'succeeded';
      } catch {
        return false;
      }
    });
}
