import type { WireTrust } from '@signalbox/model';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where the lines of a trust chart go: one step for each change, from before the first. */
export function trustPoints(
  { history, score, hypotheticalScore }: Pick<WireTrust, 'history' | 'score' | 'hypotheticalScore'>,
  { width, height }: { readonly width: number; readonly height: number },
): { readonly actual: readonly Point[]; readonly hypothetical: readonly Point[]; readonly isApart: boolean } {
  const first = history[0]?.previousScore ?? score;
  const pointsOf = (scores: readonly number[]): readonly Point[] =>
    scores.map((value, index) => ({
      x: Math.round((index / Math.max(1, scores.length - 1)) * width),
      y: Math.round(((100 - value) / 100) * height),
    }));
  const actual = [first, ...history.map(({ newScore }) => newScore)];
  const hypothetical = [first, ...history.map(change => change.hypotheticalScore)];
  const isApart = score !== hypotheticalScore || actual.some((value, index) => value !== hypothetical[index]);
  return { actual: pointsOf(actual), hypothetical: pointsOf(hypothetical), isApart };
}
