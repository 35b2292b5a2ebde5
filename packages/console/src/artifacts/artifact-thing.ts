import type { WireArtifact } from '@signalbox/model';

/** The group of an artifact's versions: the run and key; without a key, the artifact alone. */
export function thingOf({ id, run, key }: Pick<WireArtifact, 'id' | 'run' | 'key'>): string {
  return key === undefined ? id : `${run} ${key}`;
}

/** The selection of artifacts, as in the address. */
export interface ArtifactsPlace {
  readonly kind?: string;
  readonly q?: string;
  /** A thing, or one version of it if all versions are listed. */
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
