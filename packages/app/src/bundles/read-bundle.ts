import { createHash } from 'node:crypto';
import { canonicalJson, type Digest, type Json, type RunId } from '@signalbox/model';
import { type ArchiveRow, archiveRow } from '@signalbox/runs';
import { type OpenContainer, openContainer, type WrittenBundle } from './bundle-container.ts';
import { BundleFault } from './bundle-failure.ts';
import {
  BUNDLE_VERSION,
  type BundleEnd,
  type BundleHead,
  blobPath,
  bundleEnd,
  bundleHead,
  partDigest,
  partPaths,
  readLine,
} from './bundle-lines.ts';

/** Receives the content of a bundle as it is read. */
export interface BundleSink {
  head(head: BundleHead): void | Promise<void>;
  row(run: RunId, row: ArchiveRow): void | Promise<void>;
  /** A complete content that matches its name. */
  blob(name: Digest, content: Uint8Array): void | Promise<void>;
}

export interface ReadBundle extends WrittenBundle {
  readonly head: BundleHead;
  readonly end: BundleEnd;
}

/** The largest content of a run. */
const MAX_BLOB = 1 << 30;

/**
 * Reads a bundle to its end. Throws `BundleFault` or `ContainerFault` at the first defect: a bit of the file, a digest of a part, a row, an
 * order. The content passed to the sink counts only if this returns.
 */
export async function readBundle(file: string, sink: BundleSink): Promise<ReadBundle> {
  const container = await openContainer(file);
  try {
    return await readLines(container, sink);
  } finally {
    await container.close();
  }
}

async function readLines({ digest, bytes, lines }: OpenContainer, sink: BundleSink): Promise<ReadBundle> {
  const entries: { readonly path: string; readonly sha256: Digest; readonly bytes: number }[] = [];
  let head: BundleHead | undefined;
  let end: BundleEnd | undefined;
  let expected: { readonly path: string; readonly run: RunId; readonly part: keyof typeof archiveRow }[] = [];
  let part: Part | undefined;

  const closePart = async () => {
    if (part === undefined) return;
    entries.push({ path: part.path, ...part.digest.end() });
    if (part.blob !== undefined) await sink.blob(part.blob.name, contentOf(part.path, part.blob));
    part = undefined;
  };
  for await (const line of lines()) {
    const said = readLine(line);
    if (said === undefined || end !== undefined)
      throw new BundleFault('BUNDLE_INVALID_FORMAT', 'a line is empty', part?.path);
    switch (said.kind) {
      case 'head': {
        if (head !== undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'it has two headers');
        head = headOf(said.head);
        expected = head.runs.flatMap(run => partPaths(run).map(place => ({ ...place, run })));
        await sink.head(head);
        break;
      }
      case 'part': {
        await closePart();
        const next = expected.shift();
        if (next !== undefined && next.path !== said.path)
          throw new BundleFault('BUNDLE_INVALID_FORMAT', `it lacks ${next.path}`, said.path);
        part = {
          path: said.path,
          digest: partDigest(),
          rows: next,
          blob: next === undefined ? blobOf(said.path) : undefined,
        };
        break;
      }
      case 'row': {
        if (part === undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'a row is outside any part');
        part.digest.add(said.canonical);
        if (part.blob !== undefined) addTo(part.path, part.blob, said.row);
        else if (part.rows !== undefined) await sink.row(part.rows.run, rowOf(part.rows.part, said.row, part.path));
        break;
      }
      case 'end':
        await closePart();
        end = endOf(said.end);
    }
  }
  if (head === undefined || end === undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'it has no end');
  if (expected.length > 0) throw new BundleFault('BUNDLE_INVALID_FORMAT', `it lacks ${expected[0]?.path}`);
  checkEntries(entries, end);
  return { digest, bytes, head, end };
}

interface Part {
  readonly path: string;
  readonly digest: ReturnType<typeof partDigest>;
  readonly rows: { readonly run: RunId; readonly part: keyof typeof archiveRow } | undefined;
  readonly blob: Blob_ | undefined;
}

interface Blob_ {
  readonly name: Digest;
  readonly chunks: Buffer[];
  bytes: number;
}

function headOf(value: Json): BundleHead {
  const parsed = bundleHead.safeParse(value);
  if (parsed.success) return parsed.data;
  const { bundleSchemaVersion: version } = value as { readonly bundleSchemaVersion?: Json };
  if (typeof version === 'number' && version !== BUNDLE_VERSION) {
    throw new BundleFault(
      'BUNDLE_UNSUPPORTED_VERSION',
      `it has version ${version}; this program reads version ${BUNDLE_VERSION}`,
    );
  }
  throw new BundleFault('BUNDLE_INVALID_FORMAT', 'its first line is not a bundle header');
}

function endOf(value: Json): BundleEnd {
  const parsed = bundleEnd.safeParse(value);
  if (!parsed.success) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'its last line is not a bundle footer');
  return parsed.data;
}

function rowOf(part: keyof typeof archiveRow, row: Json, path: string): ArchiveRow {
  const parsed = archiveRow[part].safeParse(row);
  if (parsed.success) return { part, row: parsed.data } as ArchiveRow;
  const [issue] = parsed.error.issues;
  throw new BundleFault('BUNDLE_INVALID_FORMAT', `a row is invalid at ${issue?.path.join('.')}`, path);
}

function blobOf(path: string): Blob_ {
  const hex = /^blobs\/([0-9a-f]{64})$/.exec(path)?.[1];
  if (hex === undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'the part is unknown', path);
  return { name: `sha256:${hex}` as Digest, chunks: [], bytes: 0 };
}

function addTo(path: string, blob: Blob_, row: Json): void {
  if (typeof row !== 'string') throw new BundleFault('BUNDLE_INVALID_FORMAT', 'a content is not text', path);
  const chunk = Buffer.from(row, 'base64');
  blob.bytes += chunk.length;
  if (blob.bytes > MAX_BLOB) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'a content is too large', path);
  blob.chunks.push(chunk);
}

function contentOf(path: string, { name, chunks }: Blob_): Uint8Array {
  const content = Buffer.concat(chunks);
  if (`sha256:${createHash('sha256').update(content).digest('hex')}` === name && blobPath(name) === path)
    return content;
  throw new BundleFault('BUNDLE_INTEGRITY_FAILED', 'a content does not match its name', path);
}

function checkEntries(found: BundleEnd['integrity']['entries'], { integrity }: BundleEnd): void {
  const said = new Map(integrity.entries.map(entry => [entry.path, canonicalJson(entry)]));
  for (const entry of found) {
    const isSaid = said.get(entry.path) === canonicalJson(entry);
    if (!isSaid) throw new BundleFault('BUNDLE_INTEGRITY_FAILED', 'its rows do not match their digest', entry.path);
  }
  if (said.size === found.length) return;
  const missing = [...said.keys()].find(path => !found.some(entry => entry.path === path));
  throw new BundleFault('BUNDLE_INTEGRITY_FAILED', 'a part is missing', missing);
}
