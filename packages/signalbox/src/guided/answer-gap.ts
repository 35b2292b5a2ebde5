import path from 'node:path';
import { type ErrorEnvelope, namesId, usageError } from '@signalbox/app';
import { type GuidedRuns, openGuidedSessions } from '@signalbox/app/guided';
import { openReader, type Resolution, thisMachine } from '@signalbox/app/host';
import { askedDataDirectory, writableDataDirectory } from '../data-directory-option.ts';
import { workflowPlaces } from '../workflow/workflow-places.ts';

/** A gap that a guided session waits for, as a decision in the queue. */
type GuidedDecision = Extract<ReturnType<GuidedRuns['decisions']>, { readonly ok: true }>['value'][number];

/** A decision of a guided session, and how it is answered. */
export interface FoundGap {
  answer(resolution: Resolution): Promise<GuidedDecision | ErrorEnvelope>;
}

/**
 * The gap with this id, or with a beginning or end that only it has; undefined if there isn't one. A text that could also be a
 * decision of a run is refused.
 */
export async function findGap(
  dataDir: string | undefined,
  given: string,
): Promise<FoundGap | ErrorEnvelope | undefined> {
  const dataDirectory = askedDataDirectory(dataDir);
  const { runs } = openGuidedSessions({ dataDirectory, directories: workflowPlaces(), machine: thisMachine() });
  const all = runs.decisions();
  if (!all.ok) return all.error;
  const whole = all.value.find(({ approvalId }) => approvalId === given);
  const begun = all.value.filter(
    ({ approvalId, decision }) => decision.status === 'open' && namesId(approvalId, given),
  );
  const found = whole ?? begun[0];
  if (found === undefined) return undefined;
  if (whole === undefined && (begun.length > 1 || (await isOfRun(dataDirectory, given)))) {
    return usageError(`Several decisions begin or end with ${given}.`, 'Give more of the id.');
  }
  return {
    async answer(resolution) {
      writableDataDirectory(dataDir);
      const answered = await runs.answer(found.approvalId, resolution, found.decision.proposalHash);
      return answered.ok ? answered.value : answered.error;
    },
  };
}

async function isOfRun(dataDirectory: string, given: string): Promise<boolean> {
  const opened = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!opened.ok) return false;
  try {
    const open = await opened.value.decisions({ status: ['open'] });
    return open.some(({ decision }) => namesId(decision.id, given));
  } finally {
    opened.value.close();
  }
}
