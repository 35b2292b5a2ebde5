import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import type { ChosenAgent } from './agent-process.ts';

/**
 * Writes the files of an agent's configuration home, and returns all variables that it sees. Ours win: they make it ask. An agent that had
 * the home before may have put links there: nothing is written through them.
 */
export function prepareHome(
  { row, variables }: ChosenAgent,
  { home, root }: { readonly home: string; readonly root: string },
): Readonly<Record<string, string>> {
  const secret = randomBytes(24).toString('base64url');
  const filled = (text: string) =>
    text.replaceAll('{home}', home).replaceAll('{root}', root).replaceAll('{secret}', secret);
  for (const [file, content] of Object.entries(row.homeFiles)) {
    const parts = path.normalize(file).split('/');
    const name = parts.pop() ?? '';
    let directory = home;
    for (const part of parts) {
      directory = path.join(directory, part);
      if (fs.lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
        fs.rmSync(directory, { force: true });
        fs.mkdirSync(directory, { mode: 0o700 });
      }
    }
    const full = path.join(directory, name);
    fs.rmSync(full, { recursive: true, force: true });
    fs.writeFileSync(full, filled(content), { mode: 0o600, flag: 'wx' });
  }
  const settings = Object.entries(row.settings).map(([name, value]) => [name, filled(value)]);
  return { ...variables, ...Object.fromEntries(settings), HOME: home };
}

/** The values that nothing kept or shown may contain: all that the user gives the agent by name, except addresses. */
export function secretsOf({ row, variables }: ChosenAgent): readonly string[] {
  return row.variables.flatMap(name => {
    const value = variables[name];
    return value === undefined || /^https?:\/\//.test(value) ? [] : [value];
  });
}
