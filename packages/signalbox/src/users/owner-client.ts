import { readToken } from '@signalbox/app';
import { readOwner } from '@signalbox/app/runs';
import type { Client } from '@signalbox/client';

/** How long a server may take to show that it is there. */
const PATIENCE_MS = 5_000;

/** Speaks to the server that runs for a data directory; undefined where none does. */
export async function ownerClient(dataDirectory: string): Promise<Client | undefined> {
  const url = readOwner(dataDirectory)?.url;
  const token = url === undefined ? undefined : readToken(dataDirectory);
  if (url === undefined || token?.ok !== true) return undefined;
  const { createClient } = await import('@signalbox/client');
  // What a process that was killed wrote down leads nowhere, or to somebody else.
  const fetchInTime: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const health = await createClient({ url, token: token.value, fetch: fetchInTime }).health();
  return health.ok ? createClient({ url, token: token.value }) : undefined;
}
