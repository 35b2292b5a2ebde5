import { type ErrorEnvelope, err, failure, type Json, ok, type Result, type RunId } from '@signalbox/model';
import { forkPlan } from '@signalbox/plan';
import type { RunRecord } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { Machine } from '../machine.ts';
import { readCheckpoints } from '../undo/checkpoint-files.ts';
import { effectsNotAccepted, effectsOutside } from './effects-outside.ts';
import { type FilePorts, makeForkFiles } from './fork-files.ts';
import { type ForkPlace, placeOf } from './fork-moment.ts';
import type { ForkMoment, ForkRequest } from './fork-request.ts';

export interface ForkPorts {
  readonly store: Store;
  readonly machine: Machine;
  readonly tools: AgentTools | undefined;
  readonly workspaces: FilePorts['workspaces'];
}

/**
 * Creates a run that continues from a moment of another one. The files come first and the run in one commit after them: a process that dies
 * on the way leaves no run.
 */
export async function forkRun(
  ports: ForkPorts,
  parent: RunRecord,
  request: ForkRequest,
  by: string,
  /** The id of the new run; a fresh one by default. */
  run: RunId = ports.machine.ids.mint<RunId>(),
): Promise<Result<RunRecord, ErrorEnvelope>> {
  const { store, machine, tools, workspaces } = ports;
  if (request.input !== undefined && request.confirmed !== true) return err(unconfirmed(parent, request.input));
  const found = await lookAtFork(ports, parent, request.at, run);
  if (!found.ok) return found;
  const { place, effects } = found.value;
  const { frame, node, resumed } = place;
  if (effects.length > 0 && request.acceptEffects !== true) return err(effectsNotAccepted(parent, frame, effects));
  const files = await makeForkFiles({ reader: store, tools, workspaces }, run, parent, place, request);
  if (!files.ok) return files;
  const forked = await forkPlan(
    { commit: store, reader: store, ...machine },
    {
      run,
      parent: parent.id,
      frame,
      by,
      ...(request.at.kind === 'call' ? { call: request.at.call } : {}),
      node,
      name: request.name,
      input: request.input,
      place: files.value.place,
      effects,
      resumed,
    },
  );
  if (!forked.ok && forked.error.code !== 'store/outcome-unknown') await files.value.remove();
  return forked;
}

/** Where a fork would begin, and the outside effects that it would not know of. */
export async function lookAtFork(
  { store, tools }: Pick<ForkPorts, 'store' | 'tools'>,
  parent: RunRecord,
  at: ForkMoment,
  run: RunId,
): Promise<Result<{ readonly place: ForkPlace; readonly effects: readonly string[] }, ErrorEnvelope>> {
  const place = await placeOf(store, parent, at, run);
  if (!place.ok) return place;
  const callsOf = (of: RunId) => (tools === undefined ? [] : readCheckpoints(tools.checkpoints(of)));
  return ok({ place: place.value, effects: await effectsOutside(store, parent.id, place.value, callsOf) });
}

function unconfirmed({ id, input }: RunRecord, other: Json): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was done: the input differs from that of run ${id}, so different work would run.`,
    suggestion: 'Compare the two inputs, and confirm with --yes.',
    details: { run: id, before: input, after: other },
  });
}

/** A fork with other values of durable state, which nobody has confirmed. */
export function unconfirmedState({ id }: Pick<RunRecord, 'id'>, keys: readonly string[]): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was done: ${keys.join(', ')} would differ from run ${id}, so different work would run.`,
    suggestion: 'Look at the values, and confirm with --yes.',
    details: { run: id, keys },
  });
}
