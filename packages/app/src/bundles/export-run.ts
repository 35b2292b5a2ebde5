import { nodeHasher } from '@signalbox/journal';
import {
  type Clock,
  canonicalJson,
  chainHead,
  type Digest,
  deriveId,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  timestampOf,
} from '@signalbox/model';
import {
  type AnyEvent,
  type ArchivePart,
  type ArchiveRows,
  applyChange,
  canonicalEvent,
  type Maybe,
  planFilesOf,
  type RunRecord,
} from '@signalbox/runs';
import { type Archive, StoreDamage, StoreFault } from '@signalbox/store';
import { writeContainer } from './bundle-container.ts';
import {
  type BundleEnd,
  blobPath,
  endLine,
  headLine,
  partDigest,
  partLine,
  partPaths,
  rowLine,
} from './bundle-lines.ts';
import { type CountedFilter, countedFilter } from './counted-filter.ts';

export interface RunExport {
  /** The run that the bundle is of, and how many it holds with its sub-plans. */
  readonly run: RunId;
  readonly runs: number;
  readonly file: string;
  readonly digest: Digest;
  readonly bytes: number;
  readonly head: Digest;
  /** What was damaged; such a bundle can be looked at and not gone on with. */
  readonly salvage?: readonly string[] | undefined;
  readonly redacted?: number | undefined;
}

export interface RunExportOptions {
  readonly archive: Archive;
  readonly clock: Clock;
  readonly appVersion: string;
  /** Takes out what must not leave this machine. */
  readonly secrets: SecretFilter;
}

/** Writes a run and everything that it is into one file. Nothing is changed, and no lock is taken. */
export async function exportRun(
  options: RunExportOptions,
  run: RunId,
  file: string,
): Promise<Result<RunExport, ErrorEnvelope>> {
  const { archive } = options;
  const root = await rootOf(archive, run);
  if (root === undefined) return err(unknownRun(run));
  const records = await treeOf(archive, root);
  const filter = countedFilter(options.secrets);
  const salvage: string[] = [];
  try {
    const written = await writeContainer(file, linesOf(options, records, filter, salvage));
    return ok({
      run: root.id,
      runs: records.length,
      file,
      ...written,
      head: root.head,
      ...(salvage.length === 0 ? {} : { salvage }),
      ...(filter.hits === 0 ? {} : { redacted: filter.hits }),
    });
  } catch (cause) {
    const code = (cause as { readonly code?: unknown } | null)?.code;
    if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw cause;
    return err(notWritten(file, code));
  }
}

async function* linesOf(
  { archive, clock, appVersion }: RunExportOptions,
  records: readonly RunRecord[],
  filter: CountedFilter,
  salvage: string[],
): AsyncGenerator<string> {
  const entries: BundleEnd['integrity']['entries'][number][] = [];
  const blobs = new Set<Digest>();
  const note = blobNames(blobs);
  const exportedAt = timestampOf(clock);
  const runs = records.map(({ id }) => id);
  const bundleId = deriveId<RunId>('bundle', ...records.map(({ id, head, version }) => [id, head, version]));
  yield headLine({
    bundle: 'signalbox-run',
    bundleSchemaVersion: 1,
    bundleId,
    exportedAt,
    producer: { appVersion },
    runs,
  });

  for (const record of records) {
    const journal = weighJournal(archive, record, filter);
    if (journal.fault !== undefined) salvage.push(`run ${record.id}: ${journal.fault}`);
    let head: Digest = EMPTY_HEAD;
    for (const { part, path } of partPaths(record.id)) {
      const digest = partDigest();
      yield partLine(path);
      try {
        let count = 0;
        for (const row of archive.archived(record.id, part)) {
          if (part === 'journal' && count === journal.events) break;
          count += 1;
          note(part, row);
          let shown = filter.data(
            part === 'record'
              ? ({ ...(row as RunRecord), ...journal.ended } as unknown as Json)
              : (row as unknown as Json),
          );
          if (part === 'journal' && journal.isChanged) {
            const { event } = shown as unknown as { readonly event: AnyEvent };
            head = chainHead(nodeHasher, head, canonicalEvent(event));
            shown = { event, hash: head } as unknown as Json;
          }
          const canonical = canonicalJson(shown);
          digest.add(canonical);
          yield rowLine(canonical);
        }
      } catch (cause) {
        if (!(cause instanceof StoreDamage || cause instanceof StoreFault)) throw cause;
        salvage.push(`${path}: ${cause.message}`);
      }
      entries.push({ path, ...digest.end() });
    }
  }
  for (const name of blobs) yield* blobLines(archive, name, blobs, filter, entries, salvage);
  const redacted = filter.hits === 0 ? {} : { redacted: filter.hits };
  yield endLine({
    integrity: { kind: 'sha256_manifest_v1', entries },
    ...(salvage.length === 0 ? {} : { salvage }),
    ...redacted,
  });
}

const CHUNK = 3 << 14;

async function* blobLines(
  archive: Archive,
  name: Digest,
  names: Set<Digest>,
  filter: CountedFilter,
  entries: BundleEnd['integrity']['entries'][number][],
  salvage: string[],
): AsyncGenerator<string> {
  const content = await archive.get(name);
  if (!content.ok || filter.isIn(content.value)) {
    salvage.push(content.ok ? `${blobPath(name)}: it holds a secret, and was left out` : content.error.message);
    return;
  }
  const path = blobPath(name);
  const digest = partDigest();
  yield partLine(path);
  for (let at = 0; at < content.value.length; at += CHUNK) {
    const canonical = JSON.stringify(Buffer.from(content.value.subarray(at, at + CHUNK)).toString('base64'));
    digest.add(canonical);
    yield rowLine(canonical);
  }
  entries.push({ path, ...digest.end() });
  // The manifest of a snapshot names the contents of its files.
  for (const found of snapshotNames(content.value)) names.add(found);
}

/** What the journal of a run comes to: how far its chain holds, and its head if secrets are taken out of it. */
function weighJournal(archive: Archive, record: RunRecord, filter: CountedFilter) {
  let [head, shown]: [Digest, Digest] = [EMPTY_HEAD, EMPTY_HEAD];
  let events = 0;
  let isChanged = false;
  let fault: string | undefined;
  try {
    for (const { event, hash } of archive.archived(record.id, 'journal') as Iterable<ArchiveRows['journal']>) {
      head = chainHead(nodeHasher, head, canonicalEvent(event));
      if (head !== hash || event.seq !== events) {
        fault = `the hash of event ${events} does not hold; what comes before it is kept`;
        break;
      }
      events += 1;
      const kept = filter.peek(event as unknown as Json) as unknown as AnyEvent;
      isChanged ||= kept !== event;
      shown = chainHead(nodeHasher, shown, canonicalEvent(kept));
    }
  } catch (cause) {
    if (!(cause instanceof StoreDamage || cause instanceof StoreFault)) throw cause;
    fault = cause.message;
  }
  if (fault === undefined && (events !== record.nextSeq || head !== record.head)) {
    fault = `its ${events} events do not end where its record says`;
  }
  const ended = fault === undefined ? { head: shown } : { head: shown, nextSeq: events };
  return { events, isChanged, fault, ended };
}

/** Contents that rows refer to by name. Values are put together from their rows, which come in order. */
function blobNames(blobs: Set<Digest>): (part: ArchivePart, row: ArchiveRows[ArchivePart]) => void {
  let last: { readonly key: string; readonly value: Maybe } | undefined;
  return (part, row) => {
    if (part === 'record') for (const digest of planFilesOf(row as RunRecord)) blobs.add(digest);
    if (part === 'artifacts') {
      const { digest, content } = row as ArchiveRows['artifacts'];
      if (content === undefined) blobs.add(digest);
    }
    if (part !== 'intervals') return;
    const { space, key, change } = row as ArchiveRows['intervals'];
    if (space !== 'workspace' && !(space === 'read' && key.startsWith('file:'))) return;
    const place = `${space} ${key}`;
    const value = applyChange(last?.key === place ? last.value : undefined, change);
    last = value.ok ? { key: place, value: value.value } : undefined;
    if (last?.value !== undefined) for (const name of digestsIn(canonicalJson(last.value))) blobs.add(name);
  };
}

function snapshotNames(content: Uint8Array): Iterable<Digest> {
  const isText = content.length > 0 && content[0] === 0x7b;
  return isText && content.length < 1 << 26 ? digestsIn(Buffer.from(content).toString('utf8')) : [];
}

function* digestsIn(text: string): Iterable<Digest> {
  for (const [name] of text.matchAll(/sha256:[0-9a-f]{64}/g)) yield name as Digest;
}

/** The run above all others: a sub-plan's plan is in the code of the run that began it. */
async function rootOf(archive: Archive, run: RunId): Promise<RunRecord | undefined> {
  const record = await archive.run(run);
  if (record?.origin?.kind !== 'sub-plan') return record;
  return (await rootOf(archive, record.origin.run)) ?? record;
}

async function treeOf(archive: Archive, root: RunRecord): Promise<readonly RunRecord[]> {
  const found = [root];
  for (const { id } of found) {
    for (const child of await archive.children(id)) if (child.origin?.kind === 'sub-plan') found.push(child);
  }
  return found;
}

function unknownRun(run: RunId): ErrorEnvelope {
  return failure('run/unknown', {
    message: `There is no run ${run}.`,
    suggestion: 'See "signalbox ls" for the runs there are.',
    details: { run },
  });
}

function notWritten(file: string, code: string): ErrorEnvelope {
  return failure('STORE_IO_FAILED', {
    message: `${file} was not written (${code}).`,
    suggestion: 'See that the folder is there, writable and not full, then export again.',
    details: { file, systemCode: code },
  });
}
