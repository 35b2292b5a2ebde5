const KEY = 'signalbox.token';

/**
 * The token of this tab. It comes in the fragment of the address, which no server sees, is kept for the tab, and is taken
 * out of the address at once.
 */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null && given !== '') {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(KEY);
}
