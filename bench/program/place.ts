import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where a bench measures, and with what. */
export interface Place {
  /** The installed program. */
  readonly program: string;
  readonly rounds: number;
  /** An empty directory. */
  directory(): string;
}

export function placeIn(root: string, program: string, rounds: number): Place {
  return { program, rounds, directory: () => mkdtempSync(path.join(root, 'part-')) };
}

/** A directory with a plan file. */
export function planIn({ directory }: Place, source: string): { readonly home: string; readonly plan: string } {
  const home = directory();
  const plan = path.join(home, 'plan.tsx');
  writeFileSync(plan, source);
  return { home, plan };
}
