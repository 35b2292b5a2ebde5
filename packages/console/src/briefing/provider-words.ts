import type { RateLimitWindow, WireProvider } from '@signalbox/model';
import { span, tokens } from '../story/words.ts';

/** Providers that were called or have a key, unhealthy ones first. */
export function providersOfInterest(providers: readonly WireProvider[]): readonly WireProvider[] {
  const urgency = { failing: 0, limited: 1, ok: 2, unknown: 3 } as const;
  return providers
    .filter(({ health, key }) => health !== 'unknown' || key?.isSet === true)
    .toSorted((a, b) => urgency[a.health] - urgency[b.health] || a.name.localeCompare(b.name));
}

/** What remains of a limit, and when it resets. */
export function windowWords({ model, counts, limit, remaining, resetsAt }: RateLimitWindow, now: number): string {
  const what = counts.replace('_', ' ');
  const left =
    remaining === undefined
      ? limit === undefined
        ? `a limit of ${what}`
        : `at most ${tokens(limit)} ${what}`
      : `${tokens(remaining)}${limit === undefined ? '' : ` of ${tokens(limit)}`} ${what} left`;
  const again = resetsAt === undefined ? '' : `, resets in ${span(Math.max(0, Date.parse(resetsAt) - now))}`;
  return `${model}: ${left}${again}`;
}
