import { createHash } from 'node:crypto';
import { canonicalJson, type Digest, digest, type Json, runId, text, timestamp } from '@signalbox/model';
import { type ArchivePart, archiveParts } from '@signalbox/runs';
import * as z from 'zod';

/**
 * The lines of a bundle: a head, then part after part, each with its rows, then an end with the digest of every part. A digest is that of
 * the canonical JSON of the list of the part's rows.
 */

const BUNDLE_KIND = 'signalbox-run';

/** Version 1 held rows and events instead of records. */
export const BUNDLE_VERSION = 2;

export const bundleHead = z.strictObject({
  bundle: z.literal(BUNDLE_KIND),
  bundleSchemaVersion: z.literal(BUNDLE_VERSION),
  bundleId: z.guid(),
  exportedAt: timestamp,
  producer: z.strictObject({ appVersion: text.min(1) }),
  /** The topmost run first, then its sub-plans. */
  runs: z.array(runId).min(1).max(100_000).readonly(),
});
export type BundleHead = z.infer<typeof bundleHead>;

export const bundleEnd = z.strictObject({
  integrity: z.strictObject({
    kind: z.literal('sha256_manifest_v1'),
    entries: z.array(z.strictObject({ path: text, sha256: digest, bytes: z.int().nonnegative() })).readonly(),
  }),
  /** Only if something in the run was damaged: such a bundle can be viewed, not continued. */
  salvage: z.array(text).min(1).readonly().optional(),
  /** Rows from which secret values were removed. */
  redacted: z.int().positive().optional(),
});
export type BundleEnd = z.infer<typeof bundleEnd>;

export type BundleLine =
  | { readonly kind: 'head'; readonly head: Json }
  | { readonly kind: 'part'; readonly path: string }
  | { readonly kind: 'row'; readonly row: Json; readonly canonical: string }
  | { readonly kind: 'end'; readonly end: Json };

export const headLine = (head: BundleHead): string => canonicalJson({ head });
export const partLine = (path: string): string => canonicalJson({ part: path });
export const endLine = (end: BundleEnd): string => canonicalJson({ end });
const BEFORE_ROW = '{"row":';
export const rowLine = (canonical: string): string => `${BEFORE_ROW}${canonical}}`;

/** The content of a line; undefined if it does not belong in a bundle. */
export function readLine(line: string): BundleLine | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const members = Object.entries(parsed as Record<string, Json>);
  const [name, value] = members[0] ?? [];
  if (members.length !== 1 || value === undefined) return undefined;
  switch (name) {
    case 'row':
      return { kind: 'row', row: value, canonical: line.slice(BEFORE_ROW.length, -1) };
    case 'part':
      return typeof value === 'string' ? { kind: 'part', path: value } : undefined;
    case 'head':
      return { kind: 'head', head: value };
    case 'end':
      return { kind: 'end', end: value };
    default:
      return undefined;
  }
}

/** Computes the digest of a part, row by row. */
export function partDigest(): {
  add(canonical: string): void;
  end(): { readonly sha256: Digest; readonly bytes: number };
} {
  const hash = createHash('sha256');
  let bytes = 1;
  let isFirst = true;
  hash.update('[');
  return {
    add(canonical) {
      const text = isFirst ? canonical : `,${canonical}`;
      isFirst = false;
      hash.update(text);
      bytes += Buffer.byteLength(text);
    },
    end() {
      hash.update(']');
      return { sha256: `sha256:${hash.digest('hex')}` as Digest, bytes: bytes + 1 };
    },
  };
}

/** The parts of a run, in order, by path. */
export function partPaths(run: string): readonly { readonly part: ArchivePart; readonly path: string }[] {
  return archiveParts.map(part => ({ part, path: `runs/${run}/${part}` }));
}

export const blobPath = (name: Digest): string => `blobs/${name.slice('sha256:'.length)}`;
