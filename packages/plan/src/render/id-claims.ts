import type { SourcePosition } from '../plan-error.ts';

export interface IdConflict {
  readonly id: string;
  readonly positions: readonly [SourcePosition | undefined, SourcePosition | undefined];
}

/** The owner of each id. Checked when a render is complete: during one, an id may move from one node to another. */
export interface IdClaims {
  claim(id: string, owner: object, source: SourcePosition | undefined): void;
  release(id: string, owner: object): void;
  conflicts(): readonly IdConflict[];
}

export function createIdClaims(): IdClaims {
  const claims = new Map<string, Map<object, SourcePosition | undefined>>();
  const contested = new Set<string>();
  return {
    claim(id, owner, source) {
      const owners = claims.get(id) ?? new Map<object, SourcePosition | undefined>();
      claims.set(id, owners.set(owner, source));
      if (owners.size > 1) contested.add(id);
    },
    release(id, owner) {
      const owners = claims.get(id);
      owners?.delete(owner);
      if (owners?.size === 0) claims.delete(id);
      if ((owners?.size ?? 0) < 2) contested.delete(id);
    },
    conflicts: () =>
      [...contested].map(id => {
        const [first, second] = [...(claims.get(id)?.values() ?? [])];
        return { id, positions: [first, second] };
      }),
  };
}
