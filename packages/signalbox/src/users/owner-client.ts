import { readToken } from '@signalbox/app';
import { isOwned, readOwner } from '@signalbox/app/host';
import type { Client } from '@signalbox/client';

/** How long a server may take to respond: its process lives, but the machine may be busy. */
const PATIENCE_MS = 60_000;

/** A client for the server of a data directory; undefined if none is running. */
export async function ownerClient(dataDirectory: string): Promise<Client | undefined> {
  // The address left by a killed process leads nowhere, or to another program.
  const url = isOwned(dataDirectory) === false ? undefined : readOwner(dataDirectory)?.url;
  const token = url === undefined ? undefined : readToken(dataDirectory);
  if (url === undefined || token?.ok !== true) return undefined;
  const { createClient } = await import('@signalbox/client');
  const fetchInTime: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const health = await createClient({ url, token: token.value, fetch: fetchInTime }).health();
  return health.ok ? createClient({ url, token: token.value }) : undefined;
}
