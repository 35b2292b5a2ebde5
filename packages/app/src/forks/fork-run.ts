import {
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  type JsonObject,
  ok,
  type Result,
  type RunId,
} from '@signalbox/model';
import { editNode, forkPlan, nodeRecord, type PlanFork } from '@signalbox/plan';
import type { RunReader, RunRecord } from '@signalbox/runs';
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
  const nodeInput = await changedInput(store, parent, place, request);
  if (!nodeInput.ok) return nodeInput;
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
      nodeInput: nodeInput.value,
      place: files.value.place,
      effects,
      resumed,
    },
  );
  if (!forked.ok && forked.error.code !== 'store/outcome-unknown') await files.value.remove();
  return forked;
}

/** The changed input of the node that a rerun begins with, which the caller has confirmed. */
async function changedInput(
  reader: RunReader,
  { id }: RunRecord,
  { frame, node }: ForkPlace,
  { at, nodeInput: given, confirmed }: ForkRequest,
): Promise<Result<PlanFork['nodeInput'], ErrorEnvelope>> {
  if (given === undefined) return ok(undefined);
  const row = node === undefined || at.kind !== 'node' ? undefined : await reader.valueAt(id, 'node', node, frame);
  const status = node === undefined ? undefined : await reader.valueAt(id, 'status', node, frame);
  if (node === undefined || row === undefined || status === undefined)
    return err(nodeInputRefused(id, node, 'only a rerun of a node takes one'));
  // A frame wrote the row, and its commit was checked.
  const edited = editNode(
    row as { readonly kind: string; readonly data: JsonObject },
    given,
    nodeRecord.parse(status).edited,
  );
  if (!edited.ok) return err(nodeInputRefused(id, node, edited.error));
  return confirmed === true ? edited : err(unconfirmedNode(id, node, edited.value));
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

function nodeInputRefused(run: RunId, node: string | undefined, why: string): ErrorEnvelope {
  const of = node === undefined ? `of a node in run ${run}` : `of node ${node} in run ${run}`;
  return failure('plan/input-invalid', {
    message: `Nothing was done: the input ${of} was not changed: ${why}.`,
    suggestion: `See the input with "signalbox why ${run} ${node ?? ''}". The run's own input is changed with --run-input.`,
    details: { run, ...(node !== undefined && { node }) },
  });
}

function unconfirmedNode(
  run: RunId,
  node: string,
  { before, after }: { readonly before: Json; readonly after: Json },
): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was done: the input of node ${node} differs from that in run ${run}, so different work would run.`,
    suggestion: 'Compare the two inputs, and confirm with --yes.',
    details: { run, node, before, after },
  });
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
