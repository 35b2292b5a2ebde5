import { listGuidedRuns } from '@signalbox/guided';
import type { ErrorEnvelope, Result, RunSummary } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';

/** The guided runs of a data directory. Apart from the other use-cases: a command that lists runs loads nothing else of them. */
export function guidedRunList(dataDirectory: string): Result<readonly RunSummary[], ErrorEnvelope> {
  return listGuidedRuns({ dataDirectory, ports: { openBlobs: openBlobFiles } });
}
