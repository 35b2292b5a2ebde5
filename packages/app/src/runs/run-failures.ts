import { type ErrorEnvelope, failure, type RunId } from '@signalbox/model';
import type { RunRecord } from '@signalbox/runs';

/** Why nothing was done to a run. */

export function alreadyDriven(run: RunId): ErrorEnvelope {
  return failure('run/driven', {
    message: `Run ${run} goes on already.`,
    suggestion: `Look at it with "signalbox show ${run}".`,
    details: { run },
  });
}

export function unknownRun(run: RunId): ErrorEnvelope {
  return failure('run/unknown', {
    message: `There is no run ${run} in this data directory.`,
    suggestion: 'See "signalbox ls" for the runs there are.',
    details: { run },
  });
}

/** In a frame, or now. */
export function unknownNode(run: RunId, node: string, frame?: number | undefined): ErrorEnvelope {
  return failure('run/node-unknown', {
    message: `Run ${run} has no node ${node} ${frame === undefined ? 'now' : `in frame ${frame}`}.`,
    suggestion: `See "signalbox show ${run}" for the nodes there are.`,
    details: { run, node, ...(frame !== undefined && { frame }) },
  });
}

export function unknownFrame({ id, frames }: Pick<RunRecord, 'id' | 'frames'>, frame: number): ErrorEnvelope {
  return failure('run/frame-unknown', {
    message: `Run ${id} has no frame ${frame}.`,
    suggestion: frames === 0 ? 'It came to no frame: start the plan again.' : `Its frames are 0 to ${frames - 1}.`,
    details: { run: id, frame },
  });
}

export function editRefused(run: RunId, key: string, why: string): ErrorEnvelope {
  return failure('plan/state-invalid', {
    message: `Nothing was changed in run ${run}: ${why}.`,
    suggestion: `See "signalbox state ${run}" for what is there, and the plan for what fits.`,
    details: { run, key },
  });
}

export function noEffect(run: RunId, what: string, node: string): ErrorEnvelope {
  return failure('run/no-effect', {
    message: `There is nothing to ${what} at node ${node} of run ${run} as it stands.`,
    suggestion: `See "signalbox show ${run}" for how it stands.`,
    details: { run, node },
  });
}

export function alreadyCompleted(run: RunId): ErrorEnvelope {
  return failure('run/ended', {
    message: `Run ${run} is completed: there is nothing to go on with.`,
    suggestion: `Look at it with "signalbox show ${run}", or go on from an earlier frame with "signalbox fork ${run}".`,
    details: { run },
  });
}
