import type { RunId } from '@signalbox/app/host';
import { shownPath } from './forks/changed-paths.ts';
import type { RunOwner } from './owner/run-owner.ts';
import { shown } from './terminal.ts';

/** Files that the rollback of a call in place overwrote or removed; some may belong to a person. */
export interface KeptByCall {
  readonly run: RunId;
  readonly call: string;
  readonly tool: string;
  readonly paths: readonly string[];
}

/** Files kept by rollbacks of a run and its sub-plans since an instant. */
export async function keptSince(
  owner: Pick<RunOwner, 'checkpoints' | 'reader'>,
  run: RunId,
  since: string,
): Promise<readonly KeptByCall[]> {
  const found = await owner.checkpoints(run);
  const own = (found.ok ? found.value : []).flatMap(({ call, tool, attempts = [] }) => {
    const paths = new Set(attempts.filter(({ at }) => at >= since).flatMap(one => one.paths));
    return paths.size === 0 ? [] : [{ run, call, tool, paths: [...paths] }];
  });
  const below: KeptByCall[] = [];
  for (const { id, origin } of await owner.reader.children(run)) {
    if (origin?.kind === 'sub-plan') below.push(...(await keptSince(owner, id, since)));
  }
  return [...own, ...below];
}

const FEW = 20;

export function describeKept(kept: readonly KeptByCall[]): readonly string[] {
  return kept.flatMap(({ run, call, tool, paths }) => {
    const more = paths.length > FEW ? ` and ${paths.length - FEW} more` : '';
    return [
      `! ${shown(tool)} was rolled back in your directory. These files may be yours, so they were kept: ${paths.slice(0, FEW).map(shownPath).join(', ')}${more}`,
      `  Restore them: signalbox undo ${run} ${shown(call)} --kept`,
    ];
  });
}
