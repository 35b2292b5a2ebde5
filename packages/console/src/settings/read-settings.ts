/** The person's settings, stored in this browser. The server does not know them. */
export interface Settings {
  readonly theme: 'system' | 'dark' | 'light';
  readonly time: 'relative' | 'local' | 'utc';
  /** Actions that cannot be undone: hidden, or confirmed. */
  readonly dangerous: 'off' | 'ask';
  /** When a decision needs the person. */
  readonly notify: boolean;
  /** When a run failed. */
  readonly notifyFailed: boolean;
  /** When a run completed. */
  readonly notifyDone: boolean;
  /** No notifications from one time of the day to another; equal times are none. */
  readonly quiet: { readonly from: string; readonly to: string };
  /** How many failures in a row flag a plan. */
  readonly streak: number;
  /** Whether the developer page is shown. */
  readonly developer: boolean;
}

export const streaks = { least: 2, most: 100, usual: 5 } as const;

/** The values of each setting; the first is the default. */
export const choices = {
  theme: ['system', 'dark', 'light'],
  time: ['relative', 'local', 'utc'],
  dangerous: ['ask', 'off'],
  notify: [false, true],
  notifyFailed: [false, true],
  notifyDone: [false, true],
  developer: [false, true],
} as const satisfies { readonly [Name in Exclude<keyof Settings, 'streak' | 'quiet'>]: readonly Settings[Name][] };

/** Stored settings may be of another version or invalid: unknown values fall back to the default. */
export function readSettings(kept: string | null): Settings {
  const given = parsed(kept);
  return {
    theme: known(choices.theme, given.theme),
    time: known(choices.time, given.time),
    dangerous: known(choices.dangerous, given.dangerous),
    notify: known(choices.notify, given.notify),
    notifyFailed: known(choices.notifyFailed, given.notifyFailed),
    notifyDone: known(choices.notifyDone, given.notifyDone),
    quiet: quietOf(given.quiet),
    developer: known(choices.developer, given.developer),
    streak: isStreak(given.streak) ? given.streak : streaks.usual,
  };
}

export function isStreak(given: unknown): given is number {
  return Number.isInteger(given) && Number(given) >= streaks.least && Number(given) <= streaks.most;
}

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

function quietOf(given: unknown): Settings['quiet'] {
  const { from, to } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const isTime = (time: unknown): time is string => typeof time === 'string' && TIME.test(time);
  return isTime(from) && isTime(to) ? { from, to } : { from: '', to: '' };
}

function known<Value>(all: readonly [Value, ...Value[]], given: unknown): Value {
  return all.find(one => one === given) ?? all[0];
}

function parsed(kept: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(kept ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
