import type { RunSummary } from '@signalbox/model';

/** Runs that failed in the same way. */
export interface FailureGroup {
  /** The same for equal messages; numbers and ids are ignored. */
  readonly key: string;
  readonly code: string;
  /** The message of the newest run. */
  readonly message: string;
  /** Newest first. */
  readonly runs: readonly RunSummary[];
}

export function hasFailed({ record }: RunSummary): boolean {
  return record.status === 'failed' || (record.status === 'stalled' && record.error !== undefined);
}

/** Largest groups first, then the newest. */
export function failureGroups(runs: readonly RunSummary[]): readonly FailureGroup[] {
  const failed = runs.filter(hasFailed);
  const groups = Map.groupBy(failed, failureKey);
  return [...groups]
    .map(([key, members]): FailureGroup => {
      const { code = 'unknown', message = 'Unknown cause.' } = members[0]?.record.error ?? {};
      return { key, code, message, runs: members };
    })
    .toSorted((a, b) => b.runs.length - a.runs.length || newest(b).localeCompare(newest(a)));
}

/** The same for runs that failed in the same way. */
function failureKey({ record }: Pick<RunSummary, 'record'>): string {
  const { code = 'unknown', message = '' } = record.error ?? {};
  return `${code}\n${shapeOf(message)}`;
}

/** Runs that failed in the same way before this one, newest first. */
export function sameFailures(runs: readonly RunSummary[], run: RunSummary): readonly RunSummary[] {
  const key = failureKey(run);
  return runs
    .filter(other => other.id < run.id && hasFailed(other) && failureKey(other) === key)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** Plans that failed so many times in a row, and have not completed since. */
export function failureStreaks(
  runs: readonly RunSummary[],
  atLeast: number,
): readonly { readonly name: string; readonly count: number; readonly last: RunSummary }[] {
  const byName = Map.groupBy(
    runs.filter(run => run.record.status === 'completed' || hasFailed(run)),
    ({ record }) => record.name,
  );
  return [...byName].flatMap(([name, ended]) => {
    const inOrder = ended.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const good = inOrder.findIndex(run => !hasFailed(run));
    const count = good < 0 ? inOrder.length : good;
    const [last] = inOrder;
    return count >= atLeast && last !== undefined ? [{ name, count, last }] : [];
  });
}

function shapeOf(message: string): string {
  const [first = ''] = message.split('\n', 1);
  return first.replace(/\b[0-9a-f]{8,}(-[0-9a-f]+)*\b|\d+/gi, '#');
}

function newest({ runs }: FailureGroup): string {
  return runs[0]?.id ?? '';
}
