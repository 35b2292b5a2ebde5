import { isOwned, type RunRecord } from '@signalbox/app/host';

/**
 * Whether a run is stored as running while nobody works on it, because its process ended without stopping it. The data directory's lock is looked
 * at once, when the first such run is shown.
 */
export function interruptions(dataDirectory: string): (run: Pick<RunRecord, 'status'>) => boolean {
  let owned: boolean | undefined | 'unknown' = 'unknown';
  return ({ status }) => {
    if (status !== 'running') return false;
    if (owned === 'unknown') owned = isOwned(dataDirectory);
    return owned === false;
  };
}
