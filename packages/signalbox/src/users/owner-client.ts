import { readToken } from '@signalbox/app';
import { readOwner } from '@signalbox/app/host';
import type { Client } from '@signalbox/client';

/** How long a server may take to respond. */
const PATIENCE_MS = 5_000;

/** A client for the server of a data directory; undefined if none is running. */
export async function ownerClient(dataDirectory: string): Promise<Client | undefined> {
  const url = readOwner(dataDirectory)?.url;
  const token = url === undefined ? undefined : readToken(dataDirectory);
  if (url === undefined || token?.ok !== true) return undefined;
  const { createClient } = await import('@signalbox/client');
  // The address left by a killed process leads nowhere, or to another program.
  const fetchInTime: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const health = await createClient({ url, token: token.value, fetch: fetchInTime }).health();
  return health.ok ? createClient({ url, token: token.value }) : undefined;
}
