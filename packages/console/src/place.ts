import { type RunId, runId } from '@signalbox/model';
import { useSyncExternalStore } from 'react';

/** Where in the console the page is: the address says it. */
export type Place =
  | { readonly room: 'runs' }
  | { readonly room: 'run'; readonly run: RunId }
  | { readonly room: 'unknown' };

const listeners = new Set<() => void>();
addEventListener('popstate', tell);

export function usePlace(): Place {
  const path = useSyncExternalStore(
    listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname,
  );
  return placeOf(path);
}

export function goTo(path: string): void {
  history.pushState(null, '', path);
  scrollTo(0, 0);
  tell();
}

function tell(): void {
  for (const listener of [...listeners]) listener();
}

function placeOf(path: string): Place {
  if (path === '/' || path === '/runs') return { room: 'runs' };
  const run = runId.safeParse(/^\/runs\/([^/]+)$/.exec(path)?.[1]);
  return run.success ? { room: 'run', run: run.data } : { room: 'unknown' };
}
