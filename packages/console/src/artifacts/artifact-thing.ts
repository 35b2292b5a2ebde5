import type { WireArtifact } from '@signalbox/model';

/** What an artifact is a version of: one key of one run is one thing; without a key each is a thing of its own. */
export function thingOf({ id, run, key }: Pick<WireArtifact, 'id' | 'run' | 'key'>): string {
  return key === undefined ? id : `${run} ${key}`;
}

/** What is looked at among the artifacts, as an address says it. */
export interface ArtifactsPlace {
  readonly kind?: string;
  readonly q?: string;
  /** A thing, or one version of it where all are listed. */
  readonly at?: string;
  readonly versions?: 'all';
}

export function artifactsPlaceOf(given: Readonly<Record<string, unknown>>): ArtifactsPlace {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const found = {
    kind: text(given.kind),
    q: typeof given.q === 'number' ? String(given.q) : text(given.q),
    at: text(given.at),
    versions: given.versions === 'all' ? given.versions : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
