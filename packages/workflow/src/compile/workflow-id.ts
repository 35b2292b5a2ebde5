/** Where a workflow comes from. */
const SOURCE_KINDS = ['bundled', 'user', 'project', 'remote', 'plugin'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export type IdStatus = 'namespaced' | 'legacy';

const NAMESPACED = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;
const LEGACY = /^[a-z0-9][a-z0-9_-]*$/;

/** Undefined if it is not a workflow id at all. */
export function idStatusOf(workflowId: string): IdStatus | undefined {
  if (workflowId.length > 200) return undefined;
  if (NAMESPACED.test(workflowId)) return 'namespaced';
  return LEGACY.test(workflowId) ? 'legacy' : undefined;
}

/** `wr.` is reserved: only bundled workflows can define it, so nothing can replace one. */
export function isReservedId(workflowId: string): boolean {
  return workflowId.startsWith('wr.');
}

const NAMESPACE_OF: Readonly<Record<SourceKind, string>> = {
  bundled: 'wr',
  user: 'user',
  project: 'project',
  remote: 'repo',
  plugin: 'repo',
};

/**
 * The namespaced id that a legacy one should get: derived from its source, the same on every machine. `isTaken` reports ids in
 * use; `sourceHash` (hex digits of a digest of the source) provides the suffix if the plain id is taken.
 */
export function suggestedIdOf(
  workflowId: string,
  sourceKind: SourceKind,
  isTaken: (id: string) => boolean,
  sourceHash: string,
): string {
  const name = nameSegment(workflowId);
  const plain = `${NAMESPACE_OF[sourceKind]}.${name}`;
  if (!isTaken(plain)) return plain;
  for (let digits = 4; digits < sourceHash.length; digits += 4) {
    const suffixed = `${plain}_${sourceHash.slice(0, digits)}`;
    if (!isTaken(suffixed)) return suffixed;
  }
  return `${plain}_${sourceHash}`;
}

/** Lower case, hyphens to underscores, and a letter first. */
function nameSegment(workflowId: string): string {
  const name = workflowId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^[a-z]/.test(name) ? name : `w_${name}`;
}

const STEP_ID = /^[a-z0-9_-]+$/;

export function isStepId(id: string): boolean {
  return id.length <= 100 && STEP_ID.test(id);
}

/** A valid step id as close as possible to the given text. */
export function mendedStepId(id: string): string {
  const mended = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100);
  return mended === '' ? 'step' : mended;
}

/** A loop's name as agents and authors may write it, in the form in which names are compared. */
export function loopName(name: string): string {
  return mendedStepId(delimiterSafe(name));
}

/**
 * The only place where a dotted id (`caller.step`, from an expanded template) becomes one that keys, tokens and pointers can
 * contain.
 */
export function delimiterSafe(sourceId: string): string {
  return sourceId.replaceAll('.', '_');
}
