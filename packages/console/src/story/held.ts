import type { Json } from '@signalbox/model';
import { isObject } from './json-object.ts';

/** Changes of an agent or a command that are not applied yet. */
export interface Held {
  readonly directory: string;
  /** How many files they change. */
  readonly total: number;
  /** The changes as a patch, if they are shown for review. */
  readonly patch: string | undefined;
  /** The changed paths, as far as they are named. */
  readonly paths: readonly string[];
  /** Paths that someone else changed, too. */
  readonly conflicts: readonly Conflict[];
  /** How the check of these changes ended, if there was one. */
  readonly check?: HeldCheck;
}

interface HeldCheck {
  readonly command: string;
  readonly passed: boolean;
  /** `exited with 1`. */
  readonly says: string;
  readonly output: string;
}

interface Conflict {
  readonly path: string;
  /** What someone else did to it. */
  readonly theirs: string;
  /** What these changes would do to it. */
  readonly ours: string;
}

/** The held changes that a decision is about. */
export function heldOf(context: Json | undefined): Held | undefined {
  if (!isObject(context) || typeof context.directory !== 'string') return undefined;
  const { directory, diff, conflicts, paths, total } = context;
  const check = checkOf(context.check);
  const patch = typeof diff === 'string' ? diff : undefined;
  if (patch === undefined && !Array.isArray(conflicts)) return undefined;
  return {
    directory,
    patch,
    paths: Array.isArray(paths) ? paths.filter(path => typeof path === 'string') : [],
    total: typeof total === 'number' ? total : 0,
    conflicts: Array.isArray(conflicts) ? conflicts.flatMap(conflictOf) : [],
    ...(check && { check }),
  };
}

function checkOf(given: Json | undefined): HeldCheck | undefined {
  if (!isObject(given)) return undefined;
  const { command, passed, says, output } = given;
  if (typeof command !== 'string' || typeof says !== 'string') return undefined;
  return { command, says, passed: passed === true, output: typeof output === 'string' ? output : '' };
}

function conflictOf(given: Json): readonly Conflict[] {
  if (!isObject(given) || typeof given.path !== 'string') return [];
  const { path, theirs, command } = given;
  const size = isObject(command) && typeof command.size === 'number' ? ` (${command.size} bytes)` : '';
  return [
    {
      path,
      theirs: typeof theirs === 'string' ? theirs.replaceAll('-', ' ') : 'unknown',
      ours: command === null ? 'removes it' : `writes it${size}`,
    },
  ];
}

/** What an answer does to held changes. */
export function heldWords(option: string, { directory, patch }: Held): { readonly does?: string } {
  switch (option) {
    case 'apply-all':
      return patch === undefined
        ? { does: 'Replaces the versions of others with these. Everything is applied.' }
        : { does: `Writes these changes to ${directory}, all of them or none.` };
    case 'apply-rest':
      return { does: 'Leaves the conflicting paths as others left them, and applies everything else.' };
    case 'drop':
      return { does: 'Discards all of these changes. Nothing in the directory changes.' };
    default:
      return {};
  }
}
