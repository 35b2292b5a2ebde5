import type { ModelName } from '@signalbox/runs';

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Cached input; defaults to the input price. */
  readonly cached?: number;
  /** Input written to the provider's cache. */
  readonly cacheWrite?: number;
  /** The price of a request with more input than `over`. */
  readonly long?: { readonly over: number } & Omit<Price, 'long'>;
}

/** By `provider:model`. */
export type Prices = Readonly<Record<string, Price>>;

/**
 * List prices for standard use, as the providers publish them at platform.claude.com/docs/en/about-claude/pricing,
 * developers.openai.com/api/docs/pricing and ai.google.dev/gemini-api/docs/pricing; collected in November 2026, in part from others who
 * quote them. Prices change: the caller can supply its own. A model that is not listed has no known price.
 */
export const LIST_PRICES: Prices = {
  ...claude({ input: 10, output: 50, cached: 0.25 }, 'claude-fable-5-1'),
  ...claude({ input: 10, output: 50, cached: 1 }, 'claude-fable-5'),
  ...claude({ input: 4, output: 20, cached: 0.2 }, 'claude-opus-5-5'),
  ...claude(
    { input: 5, output: 25, cached: 0.5 },
    'claude-opus-5',
    'claude-opus-4-8',
    'claude-opus-4-7',
    'claude-opus-4-6',
    'claude-opus-4-5',
  ),
  ...claude({ input: 2, output: 10, cached: 0.1 }, 'claude-sonnet-5-5'),
  ...claude({ input: 2, output: 10, cached: 0.2 }, 'claude-sonnet-5'),
  ...claude({ input: 3, output: 15, cached: 0.3 }, 'claude-sonnet-4-6', 'claude-sonnet-4-5'),
  ...claude({ input: 1, output: 5, cached: 0.1 }, 'claude-haiku-4-5'),
  'openai:gpt-6.1-sol': { input: 2, output: 10, cached: 0.1 },
  'openai:gpt-6-luna': { input: 0.1, output: 0.5 },
  'openai:gpt-5.5': { input: 5, output: 30, cached: 0.5 },
  'openai:gpt-5.4': { input: 2.5, output: 15, cached: 0.25 },
  'openai:gpt-5.4-mini': { input: 0.75, output: 4.5, cached: 0.075 },
  'openai:gpt-5.4-nano': { input: 0.2, output: 1.25, cached: 0.02 },
  'openai:gpt-5': { input: 1.25, output: 10, cached: 0.125 },
  'openai:gpt-5-mini': { input: 0.25, output: 2, cached: 0.025 },
  'google:gemini-3.5-flash': { input: 1.5, output: 9 },
  'google:gemini-3.1-pro-preview': { input: 2, output: 12, long: { over: 200_000, input: 4, output: 18 } },
  'google:gemini-3-flash-preview': { input: 0.5, output: 3, cached: 0.05 },
  'google:gemini-2.5-pro': { input: 1.25, output: 10, long: { over: 200_000, input: 2.5, output: 15 } },
  'google:gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'google:gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
};

/** The price of a model; undefined if unknown. A dated name costs the same as the name without its date. */
export function priceOf({ provider, model }: ModelName, prices: Prices): Price | undefined {
  if (provider === 'scripted') return { input: 0, output: 0 };
  const vendor = provider === 'openai-chat' ? 'openai' : provider;
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return prices[`${provider}:${model}`] ?? prices[`${vendor}:${model}`] ?? prices[`${vendor}:${undated}`];
}

export interface PricedTokens {
  readonly input: number;
  readonly output: number;
  /** Both are part of `input`. */
  readonly cached: number;
  readonly cacheWrite: number;
}

/** In millionths of a dollar, rounded up, so that many small calls add up. */
export function costMicroUsd(tokens: PricedTokens, price: Price): number {
  const {
    input,
    output,
    cached = input,
    cacheWrite = input,
  } = price.long !== undefined && tokens.input > price.long.over ? price.long : price;
  const fresh = Math.max(0, tokens.input - tokens.cached - tokens.cacheWrite);
  const exact = fresh * input + tokens.cached * cached + tokens.cacheWrite * cacheWrite + tokens.output * output;
  // Decimal prices leave binary rounding errors far below a millionth.
  return Math.ceil(Number(exact.toFixed(6)));
}

/** Writing into Anthropic's cache costs a quarter more than input. */
function claude(price: Price, ...models: readonly string[]): Prices {
  return Object.fromEntries(
    models.map(model => [`anthropic:${model}`, { ...price, cacheWrite: price.input * 1.25 }] as const),
  );
}
