import * as fs from 'node:fs';
import path from 'node:path';
import type { ChosenAgent } from './agent-process.ts';

/** Writes the files of an agent's configuration home, and returns all variables that it sees. Ours win: they make it ask. */
export function prepareHome(
  { row, variables }: ChosenAgent,
  { home, root }: { readonly home: string; readonly root: string },
): Readonly<Record<string, string>> {
  const filled = (text: string) => text.replaceAll('{home}', home).replaceAll('{root}', root);
  for (const [file, content] of Object.entries(row.homeFiles)) {
    const full = path.join(home, file);
    fs.mkdirSync(path.dirname(full), { recursive: true, mode: 0o700 });
    fs.writeFileSync(full, filled(content), { mode: 0o600 });
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
