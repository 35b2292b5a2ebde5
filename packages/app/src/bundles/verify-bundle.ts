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
import { canonicalEvent, planFilesOf, type RunRecord } from '@signalbox/runs';
import { BundleFault, bundleFailure } from './bundle-failure.ts';
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

export interface BundledRun extends Pick<RunRecord, 'id' | 'name' | 'status' | 'frames' | 'head'> {
  readonly events: number;
}

/** Checks a bundle from its file alone: bits, parts, rows, the chain of every run, and that nothing is missing. */
export async function verifyBundle(
  file: string,
  expectHead?: string | undefined,
): Promise<Result<BundleReport, ErrorEnvelope>> {
  const chains = new Map<RunId, { readonly record: RunRecord; head: Digest; events: number }>();
  const wanted = new Set<Digest>();
  let blobs = 0;
  try {
    const { digest, bytes, head, end } = await readBundle(file, {
      head() {},
      row(run, { part, row }) {
        if (part === 'record') {
          chains.set(run, { record: row, head: EMPTY_HEAD, events: 0 });
          for (const name of planFilesOf(row)) wanted.add(name);
        }
        if (part === 'artifacts' && row.content === undefined) wanted.add(row.digest);
        const chain = chains.get(run);
        if (part !== 'journal' || chain === undefined) return;
        const { event, hash } = row;
        const place = `runs/${run}/journal`;
        if (event.seq !== chain.events || event.runId !== run)
          throw new BundleFault('BUNDLE_EVENT_ORDER_INVALID', `event ${event.seq} is not in its place`, place);
        chain.head = chainHead(nodeHasher, chain.head, canonicalEvent(event));
        chain.events += 1;
        if (chain.head !== hash)
          throw new BundleFault('BUNDLE_INTEGRITY_FAILED', `the hash of event ${event.seq} does not hold`, place);
      },
      blob(name) {
        blobs += 1;
        wanted.delete(name);
      },
    });
    const runs = [...chains.values()].map(({ record: { id, name, status, frames, head: said, nextSeq }, ...chain }) => {
      if (said === chain.head && nextSeq === chain.events)
        return { id, name, status, frames, head: said, events: nextSeq };
      throw new BundleFault('BUNDLE_INTEGRITY_FAILED', 'its events do not end where its record says', `runs/${id}`);
    });
    const [missing] = wanted;
    if (missing !== undefined && end.salvage === undefined)
      throw new BundleFault('BUNDLE_MISSING_SNAPSHOT', `it lacks the content ${missing}`);
    const unexpected =
      expectHead === undefined || expectHead === runs[0]?.head ? undefined : `${expectHead} was expected`;
    return ok({
      ok: end.salvage === undefined && unexpected === undefined,
      bundle: digest,
      bytes,
      exportedAt: head.exportedAt,
      runs,
      blobs,
      ...(end.salvage === undefined ? {} : { salvage: end.salvage }),
      ...(end.redacted === undefined ? {} : { redacted: end.redacted }),
      ...(unexpected === undefined ? {} : { unexpected }),
    });
  } catch (cause) {
    return err(bundleFailure(file, cause));
  }
}
