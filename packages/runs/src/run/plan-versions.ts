import type { RunRecord, RunSource } from './run-record.ts';

type Versioned = Pick<RunRecord, 'source' | 'earlierPlans'>;

/** The source of every plan version of a run, from version 1 on. */
export function planSources({ source, earlierPlans = [] }: Versioned): readonly RunSource[] {
  return source === undefined ? earlierPlans : [...earlierPlans, source];
}

/** The current plan version of a run. */
export function planVersionOf({ earlierPlans = [] }: Versioned): number {
  return earlierPlans.length + 1;
}

/** Whether two plans are the same code, whatever their origin. */
export function isSamePlan(a: RunSource | undefined, b: RunSource | undefined): boolean {
  return a !== undefined && b !== undefined && codeOf(a) === codeOf(b);
}

function codeOf({ root, entry, files, packages }: RunSource): string {
  const named = packages.map(({ name, version }) => `${name}@${version}`).sort();
  return JSON.stringify([root, entry, files.map(file => [file.path, file.digest]).sort(), named]);
}
