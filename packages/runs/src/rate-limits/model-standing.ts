import { cutAtWord } from '@signalbox/model';
import { keyOfModel, type ModelName } from './rate-limits.ts';

/** A limit that a provider reports in response headers. */
export interface LimitWindow {
  readonly counts: 'requests' | 'tokens' | 'input_tokens' | 'output_tokens';
  readonly limit?: number;
  readonly remaining?: number;
  /** When it resets, in milliseconds. */
  readonly resetsAt?: number;
}

/** How a model call went, and the limits that the provider reported. A canceled call reports nothing. */
export type CallReport = { readonly windows?: readonly LimitWindow[] } & (
  | { readonly kind: 'answered' }
  /** The provider is busy and wants no calls for this long. */
  | { readonly kind: 'refused'; readonly retryAfterMs: number; readonly error: CallError }
  /** The provider did not answer, or failed. */
  | { readonly kind: 'failed'; readonly error: CallError }
);

interface CallError {
  readonly code: string;
  /** Without secrets. */
  readonly message: string;
}

/** A model's state after its calls. */
export interface ModelStanding {
  readonly name: ModelName;
  readonly calls: number;
  /** The outcome of the last call that was not canceled. */
  readonly last?: CallReport['kind'];
  readonly failuresInRow: number;
  readonly lastUsedAt?: number;
  readonly lastError?: CallError & { readonly at: number };
  readonly windows: readonly LimitWindow[];
}

/** By model, the most recently used last. */
export type Standings = ReadonlyMap<string, ModelStanding>;

/** How many models are remembered; the least recently used is dropped first. */
export const MAX_STANDINGS = 100;
/** How many characters of an error are stored. */
const MAX_MESSAGE = 500;

export function recordCall(
  standings: Standings,
  name: ModelName,
  report: CallReport | undefined,
  now: number,
): Standings {
  const key = keyOfModel(name);
  const before = standings.get(key) ?? { name, calls: 0, failuresInRow: 0, windows: [] };
  const others = [...standings].filter(([other]) => other !== key).slice(1 - MAX_STANDINGS);
  return new Map([...others, [key, after({ ...before, calls: before.calls + 1, lastUsedAt: now }, report, now)]]);
}

function after(standing: ModelStanding, report: CallReport | undefined, now: number): ModelStanding {
  if (report === undefined) return standing;
  const told = report.windows ?? [];
  const windows = [...standing.windows.filter(({ counts }) => !told.some(other => other.counts === counts)), ...told];
  if (report.kind === 'answered') return { ...standing, windows, last: 'answered', failuresInRow: 0 };
  const { code, message } = report.error;
  return {
    ...standing,
    windows,
    last: report.kind,
    failuresInRow: standing.failuresInRow + 1,
    lastError: { at: now, code, message: cutAtWord(message, MAX_MESSAGE).toWellFormed() },
  };
}

export type StandingHealth = 'ok' | 'limited' | 'failing' | 'unknown';

/** A model's current health. Unknown after a refusal whose window is over: the model was not tried since. */
export function healthOfModel({ last }: ModelStanding, closedUntil: number | undefined, now: number): StandingHealth {
  if (closedUntil !== undefined && closedUntil > now) return 'limited';
  if (last === 'failed') return 'failing';
  return last === 'answered' ? 'ok' : 'unknown';
}

const gravity: readonly StandingHealth[] = ['unknown', 'ok', 'limited', 'failing'];

/** A provider is as healthy as its worst known model. */
export function healthOfProvider(models: readonly StandingHealth[]): StandingHealth {
  return models.reduce<StandingHealth>(
    (worst, health) => (gravity.indexOf(health) > gravity.indexOf(worst) ? health : worst),
    'unknown',
  );
}

/** Windows that are still current. */
export function openWindows({ windows }: ModelStanding, now: number): readonly LimitWindow[] {
  return windows.filter(({ resetsAt }) => resetsAt === undefined || resetsAt > now);
}
