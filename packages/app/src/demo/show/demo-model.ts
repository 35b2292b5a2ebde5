import { startModelServer } from '@signalbox/testkit';

/** A model on loopback that a vendor's own package takes for the vendor's. */
export interface DemoModel {
  /** The variables that point to it. With them, the demo cannot reach the vendor or use the person's key. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const LIMIT = 40;
const MINUTE = 60_000;
const CALLS_MAX = 1000;

/** It is busy at first, as models are, and says until when; then it answers, with the rest of its limit. */
export async function startDemoModel(now: () => number): Promise<DemoModel> {
  const limits = (remaining: number) => ({
    'anthropic-ratelimit-requests-limit': String(LIMIT),
    'anthropic-ratelimit-requests-remaining': String(remaining),
    'anthropic-ratelimit-requests-reset': new Date(now() + 30 * MINUTE).toISOString(),
  });
  const server = await startModelServer(
    ({ call }) =>
      call === 1
        ? { status: 429, retryAfter: '20', message: 'Too many requests: come back later.', headers: limits(0) }
        : {
            text: 'Twelve orders more than last week. Lisbon grew most; Oslo has not answered since Tuesday.',
            headers: limits(Math.max(0, LIMIT - call)),
          },
    { maxCalls: CALLS_MAX },
  );
  return {
    env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'no-key-of-anybody' },
    close: () => server.close(),
  };
}
