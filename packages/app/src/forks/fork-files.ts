import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Digest, type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import type { NewRun, RunReader, RunRecord } from '@signalbox/runs';
import { filesAt } from '@signalbox/state';
import type { AgentTools } from '../agents/agent-tools.ts';
import { type CheckpointFacts, readCheckpoint, readCheckpoints } from '../undo/checkpoint-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import type { ForkPlace } from './fork-moment.ts';
import type { ForkRequest } from './fork-request.ts';

export interface FilePorts {
  readonly reader: RunReader;
  readonly tools: AgentTools | undefined;
  readonly workspaces: Pick<WorkspaceDesk, 'fork' | 'materialize' | 'remove'> | undefined;
}

/** Where a fork works. `remove` takes back what was made for it. */
export interface ForkFiles {
  readonly place: Pick<NewRun, 'workingDirectory' | 'workspace'> | undefined;
  remove(): Promise<void>;
}

const asParent: ForkFiles = { place: undefined, async remove() {} };

/**
 * The files of a fork: of its parent's workspace in its moment, where it has one; else, in the directory that it is given,
 * those that tool calls recorded. With neither it works where its parent does, on what is there now.
 */
export async function makeForkFiles(
  ports: FilePorts,
  run: RunId,
  parent: RunRecord,
  place: ForkPlace,
  request: ForkRequest,
): Promise<Result<ForkFiles, ErrorEnvelope>> {
  const { reader, tools, workspaces } = ports;
  const recorded = tools === undefined ? [] : readCheckpoints(tools.checkpoints(parent.id));
  const { at } = request;
  const call = at.kind === 'call' ? recorded.find(one => one.call === at.call) : undefined;
  const isAfter = at.kind === 'call' && at.after === true;
  if (request.directory === undefined) {
    const made = await workspaces?.fork(run, parent, place.frame);
    if (made === undefined) return ok(asParent);
    if (!made.ok) return made;
    if (made.value === undefined) return ok(asParent);
    const { workspace } = made.value;
    const remove = async () => workspaces?.remove({ ...parent, id: run, workspace });
    const ref: Digest | undefined = isAfter ? (call?.after ?? call?.before) : call?.before;
    if (ref !== undefined && call?.root !== undefined && parent.workspace !== undefined) {
      const root = path.join(workspace.path, path.relative(parent.workspace.path, call.root));
      const brought = await workspaces?.materialize(ref, root);
      if (brought?.ok === false) {
        await remove();
        return brought;
      }
    }
    return ok({ place: made.value, remove });
  }
  const moment = (await reader.frame(parent.id, place.frame))?.at ?? '';
  const last = recorded.findLast(one => one.at <= moment);
  const chosen = call ?? last ?? recorded[0];
  return inDirectory(tools, path.resolve(request.directory), chosen, call === undefined ? last !== undefined : isAfter);
}

async function inDirectory(
  tools: AgentTools | undefined,
  directory: string,
  chosen: CheckpointFacts | undefined,
  isAfter: boolean,
): Promise<Result<ForkFiles, ErrorEnvelope>> {
  let isNew: boolean;
  try {
    isNew = mkdirSync(directory, { recursive: true }) !== undefined;
  } catch (cause) {
    return err(notMade(directory, cause));
  }
  const remove = async () => {
    if (isNew) rmSync(directory, { recursive: true, force: true });
  };
  const files: ForkFiles = { place: { workingDirectory: directory }, remove };
  const target = tools?.files(directory);
  if (target === undefined || chosen === undefined) return ok(files);
  const checkpoint = target.ok ? await readCheckpoint(chosen, target.value) : target;
  const made =
    target.ok && checkpoint.ok ? await filesAt(target.value, checkpoint.value, isAfter ? 'post' : 'pre') : checkpoint;
  if (made.ok) return ok(files);
  await remove();
  return err(made.error);
}

function notMade(directory: string, cause: unknown): ErrorEnvelope {
  return failure('state/fork-failed', {
    message: `The directory ${directory} of the fork cannot be made: ${cause instanceof Error ? cause.message : cause}.`,
    suggestion: 'Name an empty directory that can be written.',
  });
}
