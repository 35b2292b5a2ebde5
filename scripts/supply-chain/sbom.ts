import { createHash } from 'node:crypto';
import { type Lock, type LockedPackage, neededBy } from './lock-file.ts';

/** How a package of others reaches users. */
export type Delivery = 'bundled in the program' | 'bundled in the console' | 'installed';

export interface SbomOptions {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly lock: Lock;
  readonly packages: ReadonlyMap<LockedPackage, readonly Delivery[]>;
  /** The direct dependencies of the program. */
  readonly direct: readonly LockedPackage[];
}

/**
 * A list of everything of others that is in the published package or installed with it, as CycloneDX 1.6. The same sources give the
 * same bytes: it has no time, and its serial number follows from its content.
 */
export function sbomOf({ name, version, license, lock, packages, direct }: SbomOptions): object {
  const listed = [...packages.keys()].sort((a, b) => (refOf(a) < refOf(b) ? -1 : 1));
  const own = `pkg:npm/${name}@${version}`;
  const dependsOn = (needed: readonly LockedPackage[]) =>
    [...new Set(needed.filter(one => packages.has(one)).map(refOf))].sort();
  const deliveriesOf = (ref: string) => [
    ...new Set(listed.filter(one => refOf(one) === ref).flatMap(one => packages.get(one) ?? [])),
  ];
  const content = {
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        'bom-ref': own,
        type: 'application',
        name,
        version,
        purl: own,
        licenses: licencesOf(license),
      },
    },
    components: listed.filter(isFirst).map(one => ({
      'bom-ref': refOf(one),
      type: 'library',
      name: one.name,
      version: one.version,
      purl: refOf(one),
      scope: one.optional === true ? 'optional' : 'required',
      licenses: licencesOf(one.license ?? 'NOASSERTION'),
      ...hashesOf(one),
      properties: deliveriesOf(refOf(one)).map(value => ({ name: 'signalbox:delivery', value })),
    })),
    dependencies: [
      { ref: own, dependsOn: dependsOn(direct) },
      ...listed.filter(isFirst).map(one => ({ ref: refOf(one), dependsOn: dependsOn(neededBy(lock, one.place)) })),
    ],
  };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  };
}

/** A version that is installed in several places is listed once. */
function isFirst(one: LockedPackage, index: number, all: readonly LockedPackage[]): boolean {
  return index === 0 || refOf(one) !== refOf(all[index - 1] ?? one);
}

/** The address of a package: its scope's sign is encoded. */
function refOf({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function licencesOf(license: string): readonly object[] {
  return /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** The digest that npm checks when it installs a package. */
function hashesOf({ integrity }: LockedPackage): object {
  const [, content] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  if (content === undefined) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') }] };
}

/** A name-based identifier, with the version and variant of those (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
