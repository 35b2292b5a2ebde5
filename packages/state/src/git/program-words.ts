import { shownPath } from '../filesystem/path-name.ts';
import type { GitProgram } from './git-programs.ts';

const MOST = 3;
const LONGEST = 200;

/** What git would run, as the object of a sentence. */
export function programWords(programs: readonly GitProgram[]): string {
  const named = programs.slice(0, MOST).map(({ path, says }) => `${shownPath(path)} (${shownPath(cut(says))})`);
  const more = programs.length > MOST ? ` and ${programs.length - MOST} more` : '';
  return `what git runs outside of the sandbox: ${named.join(', ')}${more}`;
}

function cut(text: string): string {
  const shown = text.toWellFormed();
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}
