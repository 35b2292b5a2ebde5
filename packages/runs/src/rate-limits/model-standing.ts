import { cutAtWord } from '@signalbox/model';
import { keyOfModel, type ModelName } from './rate-limits.ts';

/** What a provider says of one of its limits, in the headers of an answer. */
export interface LimitWindow {
  readonly counts: 'requests' | 'tokens' | 'input_tokens' | 'output_tokens';
  readonly limit?: number;
  readonly remaining?: number;
  /** When it is whole again, in milliseconds. */
  readonly resetsAt?: number;
}

/** How a call of a model went, and what the provider said of its limits. A call that was canceled says nothing. */
export type CallReport = { readonly windows?: readonly LimitWindow[] } & (
  | { readonly kind: 'answered' }
  /** It is busy, and wants to be left alone for so long. */
  | { readonly kind: 'refused'; readonly retryAfterMs: number; readonly error: CallError }
  /** It did not answer, or with an error of its own. */
  | { readonly kind: 'failed'; readonly error: CallError }
);

export interface CallError {
  readonly code: string;
  /** Without secrets. */
  readonly message: string;
}

/** How a model stands, as its calls left it. */
export interface ModelStanding {
  readonly name: ModelName;
  readonly calls: number;
  /** How the last call went that was not canceled. */
  readonly last?: CallReport['kind'];
  readonly failuresInRow: number;
  readonly lastUsedAt?: number;
  readonly lastError?: CallError & { readonly at: number };
  readonly windows: readonly LimitWindow[];
}

/** By model, the one that was used last at the end. */
export type Standings = ReadonlyMap<string, ModelStanding>;

/** Models that are remembered: whoever was not used for longest is forgotten first. */
export const MAX_STANDINGS = 100;
/** Characters of an error that are kept. */
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

/** How a model does now. One whose window is over has not been tried since: that is not known. */
export function healthOfModel({ last }: ModelStanding, closedUntil: number | undefined, now: number): StandingHealth {
  if (closedUntil !== undefined && closedUntil > now) return 'limited';
  if (last === 'failed') return 'failing';
  return last === 'answered' ? 'ok' : 'unknown';
}

const gravity: readonly StandingHealth[] = ['unknown', 'ok', 'limited', 'failing'];

/** A provider is as well as the worst of its models that is known. */
export function healthOfProvider(models: readonly StandingHealth[]): StandingHealth {
  return models.reduce<StandingHealth>(
    (worst, health) => (gravity.indexOf(health) > gravity.indexOf(worst) ? health : worst),
    'unknown',
  );
}

/** Windows that still say something. */
export function openWindows({ windows }: ModelStanding, now: number): readonly LimitWindow[] {
  return windows.filter(({ resetsAt }) => resetsAt === undefined || resetsAt > now);
}
