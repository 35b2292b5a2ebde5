import type { RunId } from '@signalbox/app/runs';
import { shownPath } from './forks/changed-paths.ts';
import type { RunSurface } from './surface/run-surface.ts';
import { shown } from './terminal.ts';

/** What the rollback of a call that ran in place overwrote or removed: some of it may be a person's. */
export interface KeptByCall {
  readonly run: RunId;
  readonly call: string;
  readonly tool: string;
  readonly paths: readonly string[];
}

/** What rollbacks of a run and its sub-plans kept since an instant. */
export async function keptSince(
  surface: Pick<RunSurface, 'checkpoints' | 'reader'>,
  run: RunId,
  since: string,
): Promise<readonly KeptByCall[]> {
  const found = await surface.checkpoints(run);
  const own = (found.ok ? found.value : []).flatMap(({ call, tool, attempts = [] }) => {
    const paths = new Set(attempts.filter(({ at }) => at >= since).flatMap(one => one.paths));
    return paths.size === 0 ? [] : [{ run, call, tool, paths: [...paths] }];
  });
  const below: KeptByCall[] = [];
  for (const { id, origin } of await surface.reader.children(run)) {
    if (origin?.kind === 'sub-plan') below.push(...(await keptSince(surface, id, since)));
  }
  return [...own, ...below];
}

const FEW = 20;

export function describeKept(kept: readonly KeptByCall[]): readonly string[] {
  return kept.flatMap(({ run, call, tool, paths }) => {
    const more = paths.length > FEW ? ` and ${paths.length - FEW} more` : '';
    return [
      `! ${shown(tool)} was rolled back in your directory. These files were there and may be yours; they are kept: ${paths.slice(0, FEW).map(shownPath).join(', ')}${more}`,
      `  Bring them back: signalbox undo ${run} ${shown(call)} --kept`,
    ];
  });
}
