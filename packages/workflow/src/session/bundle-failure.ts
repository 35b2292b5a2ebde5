import { type ErrorCode, type ErrorEnvelope, failure } from '@signalbox/model';

export type BundleCode = Extract<ErrorCode, `BUNDLE_${string}`>;

const suggestions: Readonly<Record<BundleCode, string>> = {
  BUNDLE_INVALID_FORMAT: 'See that this is the file that `signalbox export` wrote, whole and unchanged.',
  BUNDLE_UNSUPPORTED_VERSION: 'Import it with the version of Signalbox that exported it, or a newer one.',
  BUNDLE_INTEGRITY_FAILED:
    'The file was changed or damaged on its way, or is a salvaged part. Export the session again.',
  BUNDLE_MISSING_SNAPSHOT: 'Export the session again on a machine that still has all its snapshots.',
  BUNDLE_MISSING_PINNED_WORKFLOW: 'Export the session again on a machine that still has the workflows it is pinned to.',
  BUNDLE_EVENT_ORDER_INVALID: 'Export the session again: events were lost, repeated or moved.',
  BUNDLE_MANIFEST_ORDER_INVALID: 'Export the session again: records of its manifest were lost, repeated or moved.',
};

export function bundleFailure<Code extends BundleCode>(code: Code, why: string): ErrorEnvelope<Code> {
  return failure(code, {
    message: `The bundle was refused and nothing was stored: ${why}.`,
    suggestion: suggestions[code],
  });
}
