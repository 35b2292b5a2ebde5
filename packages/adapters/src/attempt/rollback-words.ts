import type { ToolOutcome } from '@signalbox/state';

type Rollback = Extract<ToolOutcome, { status: 'failed' }>['rollback'];

const SHOWN = 50;

/** The fate of a failed call's changes, as a sentence after its error. */
export function rollbackWords(rollback: Rollback): string {
  switch (rollback.kind) {
    case 'nothing-to-undo':
    case 'held':
      return '';
    case 'restored': {
      const except = [...rollback.opaqueChanged, ...rollback.lost, ...(rollback.left ?? [])];
      const undone = except.length === 0 ? '' : `, except for ${named(except)}`;
      const aside = rollback.setAside ?? [];
      const moved = aside.length === 0 ? '' : ` What it left for git to run was set aside: ${named(aside)}.`;
      const kept = rollback.kept?.paths ?? [];
      const saved =
        kept.length === 0
          ? ''
          : ` A person may have worked there too, so what that overwrote or removed is kept and can be brought back: ${named(kept)}.`;
      return ` What it changed was undone${undone}.${moved}${saved}`;
    }
    case 'dropped':
      return ' Nothing that it changed was applied.';
    case 'waiting':
      return ' It still runs. Its directory is locked until it has ended; then what it changed is undone.';
    case 'conflict':
    case 'failed':
      return ` What it changed could not be undone: ${rollback.error.message}`;
  }
}

function named(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return `${paths.slice(0, SHOWN).join(', ')}${more}`;
}
