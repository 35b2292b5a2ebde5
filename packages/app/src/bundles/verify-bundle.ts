import { nodeHasher } from '@signalbox/journal';
import {
  chainHead,
  type Digest,
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

/** What is in a bundle of which every bit is as it was written. */
export interface BundleReport {
  readonly ok: boolean;
  readonly bundle: Digest;
  readonly bytes: number;
  readonly exportedAt: string;
  readonly runs: readonly BundledRun[];
  readonly blobs: number;
  /** What was damaged where it was exported. */
  readonly salvage?: readonly string[];
  readonly redacted?: number;
  /** Why a head that was kept elsewhere is not that of the run. */
  readonly unexpected?: string;
}

export interface BundledRun extends Pick<RunRecord, 'id' | 'name' | 'status' | 'frames' | 'head' | 'records'> {
  readonly events: number;
  /** What was collapsed or redacted, by the records that say so. */
  readonly taken?: readonly TakenAway[];
}

/** Checks a bundle as an import does: from its file, then every record by the judge of commits, in a store that is removed again. */
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
      ...(end.salvage === undefined ? {} : { salvage: end.salvage }),
      ...(end.redacted === undefined ? {} : { redacted: end.redacted }),
      ...(unexpected === undefined ? {} : { unexpected }),
    });
  } catch (cause) {
    return err(bundleFailure(file, cause));
  }
}

/** The run after one more of its records, which must follow. Values that lie in blobs come later in the file. */
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

/** Undefined where the body has not the shape that the engine writes. */
function afterRecord(...given: Parameters<typeof runAfter>): ReturnType<typeof runAfter> | undefined {
  try {
    return runAfter(...given);
  } catch {
    return undefined;
  }
}
