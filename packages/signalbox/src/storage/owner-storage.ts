import { readToken } from '@signalbox/app';
import { readOwner, type StorageStanding } from '@signalbox/app/host';

/** How long to wait for an owner's answer: committed data can be shown without it. */
const PATIENCE_MS = 1000;

/** Whether the data directory accepts writes, according to its owner; `ok` if there is none. */
export async function ownerStorage(dataDirectory: string): Promise<StorageStanding> {
  const unknown: StorageStanding = { status: 'ok' };
  const url = readOwner(dataDirectory)?.url;
  const token = url === undefined ? undefined : readToken(dataDirectory);
  if (url === undefined || token?.ok !== true) return unknown;
  const { createClient } = await import('@signalbox/client');
  const fetchInTime: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const health = await createClient({ url, token: token.value, fetch: fetchInTime }).health();
  return health.ok ? health.value.storage : unknown;
}
