import { nodeHasher } from '@signalbox/journal';
import {
  chainHead,
  type Digest,
  defined,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
} from '@signalbox/model';
import {
  type AwayCheck,
  awayCheck,
  type LogRecord,
  neededBlobs,
  openRecord,
  type RunRecord,
  runAfter,
  type TakenAway,
} from '@signalbox/runs';
import { BundleFault, bundleFailure } from './bundle-failure.ts';
import { openBundle } from './open-bundle.ts';
import { readBundle } from './read-bundle.ts';

/** The content of a bundle in which every bit is as written. */
export interface BundleReport {
  readonly ok: boolean;
  readonly bundle: Digest;
  readonly bytes: number;
  readonly exportedAt: string;
  readonly runs: readonly BundledRun[];
  readonly blobs: number;
  /** What was damaged at its origin. */
  readonly salvage?: readonly string[];
  readonly redacted?: number;
  /** Why a head that was stored elsewhere is not that of the run. */
  readonly unexpected?: string;
}

export interface BundledRun extends Pick<RunRecord, 'id' | 'name' | 'status' | 'frames' | 'head' | 'records'> {
  readonly events: number;
  /** What was collapsed or redacted, according to the records. */
  readonly taken?: readonly TakenAway[];
}

/** Checks a bundle as an import does: its file first, then every record by the judge of commits, in a store that is removed again. */
export async function verifyBundle(
  file: string,
  expectHead?: string | undefined,
): Promise<Result<BundleReport, ErrorEnvelope>> {
  const checked = await checkBundle(file, expectHead);
  // The valid part of a damaged run is no whole run to judge.
  if (!checked.ok || checked.value.salvage !== undefined) return checked;
  const opened = await openBundle(file);
  if (!opened.ok) return opened;
  opened.value.close();
  return opened.value.digest === checked.value.bundle
    ? checked
    : err(bundleFailure(file, new BundleFault('BUNDLE_INTEGRITY_FAILED', 'it changed while it was being read')));
}

/** Checks a bundle from its file alone: bits, parts, the log of every run, and that nothing is missing. */
export async function checkBundle(
  file: string,
  expectHead?: string | undefined,
): Promise<Result<BundleReport, ErrorEnvelope>> {
  const runs = new Map<RunId, RunRecord>();
  const away = new Map<RunId, AwayCheck>();
  const wanted = new Set<Digest>();
  let blobs = 0;
  try {
    const { digest, bytes, head, end } = await readBundle(file, {
      head() {},
      row(run, { part, row }) {
        if (part !== 'records') return;
        const check = away.get(run) ?? awayCheck();
        away.set(run, check);
        runs.set(run, nextOf(runs.get(run), run, row, wanted, check));
      },
      blob(name) {
        blobs += 1;
        wanted.delete(name);
      },
    });
    for (const [run, check] of away) {
      const fault = check.end();
      if (fault !== undefined && end.salvage === undefined)
        throw new BundleFault(
          'BUNDLE_INTEGRITY_FAILED',
          `record ${fault.record}: ${fault.what}`,
          `runs/${run}/records`,
        );
    }
    const [missing] = wanted;
    if (missing !== undefined && end.salvage === undefined)
      throw new BundleFault('BUNDLE_MISSING_SNAPSHOT', `it lacks the content ${missing}`);
    const found = [...runs.values()].map(({ id, name, status, frames, records, head: last, nextSeq }) => {
      const taken = away.get(id)?.taken ?? [];
      const counts = { frames, records, head: last, events: nextSeq };
      return { id, name, status, ...counts, ...(taken.length > 0 && { taken }) };
    });
    const unexpected =
      expectHead === undefined || expectHead === found[0]?.head ? undefined : `${expectHead} was expected`;
    return ok({
      ok: end.salvage === undefined && unexpected === undefined,
      bundle: digest,
      bytes,
      exportedAt: head.exportedAt,
      runs: found,
      blobs,
      ...defined({ salvage: end.salvage, redacted: end.redacted, unexpected }),
    });
  } catch (cause) {
    return err(bundleFailure(file, cause));
  }
}

/** The run after one more record, which must follow. Values in blobs come later in the file. */
function nextOf(
  before: RunRecord | undefined,
  run: RunId,
  record: LogRecord,
  wanted: Set<Digest>,
  away: AwayCheck,
): RunRecord {
  const place = `runs/${run}/records`;
  const n = before?.records ?? 0;
  if (chainHead(nodeHasher, before?.head ?? EMPTY_HEAD, record.header) !== record.hash)
    throw new BundleFault('BUNDLE_INTEGRITY_FAILED', `the hash of record ${n} does not match`, place);
  const opened = openRecord(record, nodeHasher);
  if (!opened.ok) throw new BundleFault('BUNDLE_INTEGRITY_FAILED', `record ${n}: ${opened.error}`, place);
  const unexplained = away.take(opened.value);
  if (unexplained !== undefined) throw new BundleFault('BUNDLE_INTEGRITY_FAILED', `record ${n}: ${unexplained}`, place);
  const after = afterRecord(before, opened.value, record.hash);
  if (after === undefined)
    throw new BundleFault('BUNDLE_INVALID_FORMAT', `record ${n} is not a valid Signalbox record`, place);
  if (!after.ok || after.value.id !== run) {
    throw new BundleFault('BUNDLE_EVENT_ORDER_INVALID', `record ${n} is out of order`, place);
  }
  for (const name of neededBlobs(opened.value)) wanted.add(name);
  return after.value;
}

/** Undefined if the body does not have the engine's shape. */
function afterRecord(...given: Parameters<typeof runAfter>): ReturnType<typeof runAfter> | undefined {
  try {
    return runAfter(...given);
  } catch {
    return undefined;
  }
}
