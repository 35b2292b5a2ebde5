import { defined, type ErrorEnvelope, failure, type NodeStatus, type RunId } from '@signalbox/model';
import type { SignalFault } from '@signalbox/plan';
import type { RunRecord, TaskError } from '@signalbox/runs';

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

/** One command lists the calls to undo, to fork from or to roll back to. */
export function unknownCall(run: RunId, call: string): ErrorEnvelope {
  return failure('state/checkpoint-unknown', {
    message: `Run ${run} has no recorded tool call ${JSON.stringify(call)}.`,
    suggestion: `See "signalbox checkpoints ${run}" for the calls there are; old ones are dropped.`,
    details: { run, call },
  });
}

/** In a frame, or now. */
export function unknownNode(run: RunId, node: string, frame?: number | undefined): ErrorEnvelope {
  return failure('run/node-unknown', {
    message: `Run ${run} has no node ${node} ${frame === undefined ? 'now' : `in frame ${frame}`}.`,
    suggestion: `See "signalbox show ${run}" for the nodes there are.`,
    details: { run, node, ...defined({ frame }) },
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

export function noEffect(run: RunId, what: string, node: string, status?: NodeStatus): ErrorEnvelope {
  const why = status === undefined ? '' : `: ${standings[status]}`;
  return failure('run/no-effect', {
    message: `There is nothing to ${what} at node ${node} of run ${run}${why}.`,
    suggestion: `See "signalbox show ${run}" for its nodes; "signalbox resume ${run}" takes the run up.`,
    details: { run, node, ...defined({ status }) },
  });
}

const standings: Record<NodeStatus, string> = {
  idle: 'its work has not begun',
  scheduled: 'it waits for its next attempt',
  running: 'it is running',
  succeeded: 'it has succeeded',
  failed: 'it has failed',
  blocked: 'it is blocked',
  canceled: 'it was canceled',
  abandoned: 'it was given up',
  skipped: 'its branch is not taken',
};

/** The plan would ignore the signal: it is not recorded. */
export function signalRefused(run: RunId, name: string, fault: SignalFault): ErrorEnvelope {
  if (fault.kind === 'invalid') {
    const { plan, place, why } = fault;
    return failure('run/signal-invalid', {
      message: `The payload of signal '${name}' does not fit plan ${plan} of run ${run} at ${place}: ${why}`,
      suggestion: 'Send a payload that the schema of the signal accepts.',
      details: { run, signal: name, place },
    });
  }
  const { plan, known } = fault;
  return failure('run/signal-unknown', {
    message: `Plan ${plan} of run ${run} has no signal '${name}'.`,
    suggestion:
      known.length === 0
        ? 'Declare it in the signals of the plan, then resume the run with --use-current.'
        : `Its signals are: ${known.join(', ')}.`,
    details: { run, signal: name, known },
  });
}

/** The run was resumed for it, and its plan threw before the next frame. */
export function planFails(run: RunId, what: string, node: string, { code, message }: TaskError): ErrorEnvelope {
  return failure('run/no-effect', {
    message: `The ${what} of node ${node} is recorded, but run ${run} failed again: ${message}`,
    suggestion: `Correct the plan's file, then "signalbox resume ${run} --use-current".`,
    details: { run, node, cause: code },
  });
}

export function alreadyCompleted(run: RunId): ErrorEnvelope {
  return failure('run/ended', {
    message: `Run ${run} is completed: there is nothing to go on with.`,
    suggestion: `Look at it with "signalbox show ${run}", or go on from an earlier frame with "signalbox fork ${run}".`,
    details: { run },
  });
}
