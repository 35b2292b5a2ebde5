/** What a person wants of this console, kept in this browser. The server knows nothing of it. */
export interface Settings {
  readonly theme: 'system' | 'dark' | 'light';
  readonly time: 'relative' | 'local' | 'utc';
  /** What cannot be taken back: not offered, or asked for twice. */
  readonly dangerous: 'off' | 'ask';
  readonly notify: boolean;
  /** A plan that failed so many times in a row is named. */
  readonly streak: number;
  /** Whether there is a page for those who build on the server. */
  readonly developer: boolean;
}

export const streaks = { least: 2, most: 100, usual: 5 } as const;

/** What each setting can be; the first is what it is unless told otherwise. */
export const choices = {
  theme: ['system', 'dark', 'light'],
  time: ['relative', 'local', 'utc'],
  dangerous: ['ask', 'off'],
  notify: [false, true],
  developer: [false, true],
} as const satisfies { readonly [Name in Exclude<keyof Settings, 'streak'>]: readonly Settings[Name][] };

/** What is kept may be of another version, or anything: what is not known is as it is unless told otherwise. */
export function readSettings(kept: string | null): Settings {
  const given = parsed(kept);
  return {
    theme: known(choices.theme, given.theme),
    time: known(choices.time, given.time),
    dangerous: known(choices.dangerous, given.dangerous),
    notify: known(choices.notify, given.notify),
    developer: known(choices.developer, given.developer),
    streak: isStreak(given.streak) ? given.streak : streaks.usual,
  };
}

export function isStreak(given: unknown): given is number {
  return Number.isInteger(given) && Number(given) >= streaks.least && Number(given) <= streaks.most;
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
