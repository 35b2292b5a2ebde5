import { listGuidedRuns } from '@signalbox/guided';
import type { ErrorEnvelope, Result, RunSummary } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';

/** The guided runs of a data directory. Separate from the other use-cases, so that a command that lists runs loads nothing else. */
export function guidedRunList(dataDirectory: string): Result<readonly RunSummary[], ErrorEnvelope> {
  return listGuidedRuns({ dataDirectory, ports: { openBlobs: openBlobFiles } });
}
