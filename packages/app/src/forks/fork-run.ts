import { type ErrorEnvelope, err, failure, type Json, type Result, type RunId } from '@signalbox/model';
import { forkPlan } from '@signalbox/plan';
import type { RunRecord } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { Machine } from '../machine.ts';
import { readCheckpoints } from '../undo/checkpoint-files.ts';
import { effectsNotAccepted, effectsOutside } from './effects-outside.ts';
import { type FilePorts, makeForkFiles } from './fork-files.ts';
import { placeOf } from './fork-moment.ts';
import type { ForkRequest } from './fork-request.ts';

export interface ForkPorts {
  readonly store: Store;
  readonly machine: Machine;
  readonly tools: AgentTools | undefined;
  readonly workspaces: FilePorts['workspaces'];
}

/**
 * Makes a run that goes on from a moment of another one. The files come first and the run in one commit after them: a
 * process that dies on the way leaves no run.
 */
export async function forkRun(
  { store, machine, tools, workspaces }: ForkPorts,
  parent: RunRecord,
  request: ForkRequest,
  by: string,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  if (request.input !== undefined && request.confirmed !== true) return err(unconfirmed(parent, request.input));
  const run = machine.ids.mint<RunId>();
  const found = await placeOf(store, parent, request.at, run);
  if (!found.ok) return found;
  const { frame, node, resumed } = found.value;
  const callsOf = (of: RunId) => (tools === undefined ? [] : readCheckpoints(tools.checkpoints(of)));
  const effects = await effectsOutside(store, parent.id, found.value, callsOf);
  if (effects.length > 0 && request.acceptEffects !== true) return err(effectsNotAccepted(parent, frame, effects));
  const files = await makeForkFiles({ reader: store, tools, workspaces }, run, parent, found.value, request);
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

function unconfirmed({ id, input }: RunRecord, other: Json): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was done: with another input than run ${id} had, work is done that was not meant before.`,
    suggestion: 'Compare the two inputs, and say that it is meant (--yes).',
    details: { run: id, before: input, after: other },
  });
}
