import { nodeHasher } from '@signalbox/journal';
import {
  asJson,
  type Clock,
  canonicalJson,
  chainHead,
  type Digest,
  deriveId,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  timestampOf,
} from '@signalbox/model';
import {
  awayCheck,
  digestsIn,
  type LogRecord,
  mentionedBlobs,
  neededBlobs,
  openRecord,
  type RecordBody,
  type RecordHeader,
  type RunRecord,
  redactBody,
} from '@signalbox/runs';
import { type Archive, StoreDamage, StoreFault } from '@signalbox/store';
import { writeContainer } from './bundle-container.ts';
import {
  BUNDLE_VERSION,
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
  /** The topmost run of the bundle, and how many it holds with its sub-plans. */
  readonly run: RunId;
  readonly runs: number;
  readonly file: string;
  readonly digest: Digest;
  readonly bytes: number;
  readonly head: Digest;
  /** What was damaged; such a bundle can be viewed, not continued. */
  readonly salvage?: readonly string[] | undefined;
  readonly redacted?: number | undefined;
}

export interface RunExportOptions {
  readonly archive: Archive;
  readonly clock: Clock;
  readonly appVersion: string;
  /** Removes what must not leave this machine. */
  readonly secrets: SecretFilter;
}

/** Writes a complete run into one file. Changes nothing and takes no lock. */
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
  const exportedAt = timestampOf(clock);
  const runs = records.map(({ id }) => id);
  const bundleId = deriveId<RunId>('bundle', ...records.map(({ id, head, version }) => [id, head, version]));
  yield headLine({
    bundle: 'signalbox-run',
    bundleSchemaVersion: BUNDLE_VERSION,
    bundleId,
    exportedAt,
    producer: { appVersion },
    runs,
  });

  for (const record of records) {
    for (const { part, path } of partPaths(record.id)) {
      const digest = partDigest();
      yield partLine(path);
      try {
        const rows =
          part === 'records' ? shownRecords(archive, record, filter, blobs) : archive.archived(record.id, part);
        for (const row of rows) {
          const canonical = canonicalJson(asJson(part === 'records' ? row : filter.data(row)));
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

/**
 * The exported log of a run: unchanged, unless a record holds something that must not leave. From that one on, records are sealed again.
 * Throws if the chain is broken.
 */
function* shownRecords(
  archive: Archive,
  { id, head: end }: RunRecord,
  filter: CountedFilter,
  blobs: Set<Digest>,
): Generator<LogRecord> {
  let [head, shownHead]: [Digest, Digest] = [EMPTY_HEAD, EMPTY_HEAD];
  let n = 0;
  const away = awayCheck();
  /** Records with a changed body, sealed again. */
  const resealed = new Set<number>();
  for (const record of archive.archived(id, 'records')) {
    head = chainHead(nodeHasher, head, record.header);
    const opened =
      head === record.hash ? openRecord(record, nodeHasher, archive.textOf) : err('its hash does not hold');
    const fault = opened.ok ? away.take(opened.value) : opened.error;
    if (!opened.ok || fault !== undefined)
      throw new StoreDamage(`record ${n} is damaged: ${fault}; what comes before it is kept`);
    const { header, body } = opened.value;
    for (const name of [...neededBlobs(opened.value), ...mentionedBlobs(body)]) blobs.add(name);
    const shown = withoutSecrets(record, header, filter, shownHead, resealed);
    shownHead = shown.hash;
    n += 1;
    yield shown;
  }
  const unexplained = away.end();
  if (unexplained !== undefined) throw new StoreDamage(`record ${unexplained.record}: ${unexplained.what}`);
  if (head !== end) throw new StoreDamage(`its ${n} records do not end where its record says`);
}

/** Values in blobs are not checked here: a blob that holds a secret is not exported. */
function withoutSecrets(
  record: LogRecord,
  header: RecordHeader,
  filter: CountedFilter,
  before: Digest,
  resealed: Set<number>,
): LogRecord {
  const body = JSON.parse(record.body) as RecordBody;
  const shown = withoutResealed(redactBody(body, filter, nodeHasher), body, resealed);
  if (shown !== body) resealed.add(header.n);
  const text = shown === body ? record.body : JSON.stringify(shown);
  const headerText =
    shown === body ? record.header : JSON.stringify({ ...header, body: nodeHasher(text) } satisfies RecordHeader);
  return { header: headerText, body: text, hash: chainHead(nodeHasher, before, headerText) };
}

/** A resealed body stands for itself: no record says any more that it was replaced. */
function withoutResealed(shown: RecordBody, given: RecordBody, resealed: ReadonlySet<number>): RecordBody {
  const { away, taken } = shown;
  const isTold = taken?.records.some(({ n }) => resealed.has(n)) === true;
  if (shown === given && !isTold) return given;
  const { by: _, ...left } = away ?? {};
  return {
    ...shown,
    ...(away && { away: left }),
    ...(taken && { taken: { ...taken, records: taken.records.filter(({ n }) => !resealed.has(n)) } }),
  };
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
    salvage.push(content.ok ? `${blobPath(name)}: omitted because it contains a secret` : content.error.message);
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

function snapshotNames(content: Uint8Array): Iterable<Digest> {
  const isText = content.length > 0 && content[0] === 0x7b;
  return isText && content.length < 1 << 26 ? digestsIn(Buffer.from(content).toString('utf8')) : [];
}

/** The topmost run: a sub-plan's plan is in the code of the run that started it. */
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
    suggestion: 'List the runs with "signalbox ls".',
    details: { run },
  });
}

function notWritten(file: string, code: string): ErrorEnvelope {
  return failure('STORE_IO_FAILED', {
    message: `${file} was not written (${code}).`,
    suggestion: 'Check that the folder exists, is writable and has room, then export again.',
    details: { file, systemCode: code },
  });
}
