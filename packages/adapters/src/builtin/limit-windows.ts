import type { LimitWindow } from '@signalbox/runs';

type Headers = Readonly<Record<string, string | undefined>>;

const kinds = ['requests', 'tokens', 'input_tokens', 'output_tokens'] as const;

/** The provider's limits from the headers of an answer. Google sends none. */
export function limitWindows(headers: Headers, now: number): readonly LimitWindow[] {
  return kinds.flatMap(counts => {
    const name = counts.replace('_', '-');
    const own = windowOf(counts, part => headers[`anthropic-ratelimit-${name}-${part}`], momentOf);
    const other = windowOf(
      counts,
      part => headers[`x-ratelimit-${part}-${name}`],
      text => afterSpan(text, now),
    );
    return own ?? other ?? [];
  });
}

function windowOf(
  counts: LimitWindow['counts'],
  part: (name: 'limit' | 'remaining' | 'reset') => string | undefined,
  moment: (text: string) => number | undefined,
): LimitWindow | undefined {
  const [limit, remaining] = [countOf(part('limit')), countOf(part('remaining'))];
  const resetsAt = moment(part('reset') ?? '');
  if (limit === undefined && remaining === undefined) return undefined;
  return {
    counts,
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetsAt !== undefined && { resetsAt }),
  };
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Anthropic gives the time: `2026-01-31T12:00:00Z`. */
function momentOf(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** No limit has a longer window; a larger value is a mistake. */
const LONGEST_MS = 31 * 86_400_000;

/** OpenAI gives a duration: `1h2m3.5s`, `120ms`. */
function afterSpan(text: string, now: number): number | undefined {
  if (text.length > 32 || !/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(text)) return undefined;
  let span = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    span += Number(amount) * (unitMs[unit] ?? 0);
  }
  return span > LONGEST_MS ? undefined : now + Math.ceil(span);
}
