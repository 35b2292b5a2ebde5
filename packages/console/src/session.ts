const KEY = 'signalbox.token';

/**
 * The token of this tab. It comes in the fragment of the address, which no server sees, is stored for the tab, and is removed from the
 * address at once.
 */
export function takeToken(): string | undefined {
  const given = takeFromAddress('token');
  if (given !== undefined) keepToken(given);
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** The code of a one-time link; it is removed from the address at once. */
export function takeCode(): string | undefined {
  return takeFromAddress('code');
}

export function hasCode(): boolean {
  return readAddress('code') !== undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(KEY);
}

function readAddress(name: string): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get(name) || undefined;
}

function takeFromAddress(name: string): string | undefined {
  const given = readAddress(name);
  if (given !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return given;
}
