/** Figures as the benches print them: one JSON line each. */

/** Prints a figure that has a goal. Its value, which the goal is about, is the median of its rounds. */
export function goal(
  bench: string,
  found: readonly number[],
  kind: 'at least' | 'at most',
  reach: number,
  more: object = {},
): void {
  const value = round3(median(found));
  const reached = kind === 'at least' ? value >= reach : value <= reach;
  figure(bench, { ...more, value, median: value, mean: round3(mean(found)), [kind]: reach, reached });
}

export function figure(bench: string, more: object): void {
  process.stdout.write(`${JSON.stringify({ bench, ...more })}\n`);
}

/** Of an even number, the mean of the two in the middle. */
export function median(found: readonly number[]): number {
  const sorted = found.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return mean(sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1));
}

export function mean(found: readonly number[]): number {
  return found.reduce((sum, one) => sum + one, 0) / found.length;
}

export function quantile(found: readonly number[], share: number): number {
  const sorted = found.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Element by element; both have as many. */
export function paired(
  some: readonly number[],
  others: readonly number[],
  combine: (one: number, other: number) => number,
): number[] {
  return some.map((one, index) => combine(one, others[index] ?? Number.NaN));
}

export async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function times(count: number, work: () => unknown): void {
  for (let index = 0; index < count; index++) work();
}

export function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
