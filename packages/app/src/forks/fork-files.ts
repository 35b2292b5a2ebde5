import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  thrownMessage,
} from '@signalbox/model';
import type { NewRun, RunReader, RunRecord } from '@signalbox/runs';
import {
  checkpointsFrom,
  checkpointUnknown,
  type DirectoryNode,
  putFiles,
  type ToolCheckpoint,
  treeAt,
} from '@signalbox/state';
import type { AgentTools } from '../agents/agent-tools.ts';
import { type CheckpointFacts, readCheckpoint, readCheckpoints } from '../undo/checkpoint-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import type { ForkPlace } from './fork-moment.ts';
import type { ForkRequest } from './fork-request.ts';

export interface FilePorts {
  readonly reader: RunReader;
  readonly tools: AgentTools | undefined;
  readonly workspaces: Pick<WorkspaceDesk, 'fork' | 'materialize' | 'discard'> | undefined;
}

/** The working directory of a fork. `remove` deletes what was created for it. */
export interface ForkFiles {
  readonly place: Pick<NewRun, 'workingDirectory' | 'workspace'> | undefined;
  remove(): Promise<void>;
}

const asParent: ForkFiles = { place: undefined, async remove() {} };

/**
 * The files of a fork: of its parent's workspace at that moment, if it has one; otherwise, in its given directory, those that tool calls
 * recorded. With neither it works where its parent does, on the current files.
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
    const remove = async () => workspaces?.discard(run, workspace);
    if (tools !== undefined && call?.root !== undefined && parent.workspace !== undefined) {
      const root = path.join(workspace.path, path.relative(parent.workspace.path, call.root));
      const ref = await refAt(tools, recorded, { root: call.root, facts: call, phase: isAfter ? 'post' : 'pre' });
      const brought = ref.ok ? await workspaces?.materialize(ref.value, root) : ref;
      if (brought?.ok === false) {
        await remove();
        return brought;
      }
    }
    return ok({ place: made.value, remove });
  }
  const moment = place.from?.at ?? (await reader.frame(parent.id, place.frame))?.at ?? '';
  const pictures = picturesOf(recorded, moment, call === undefined ? undefined : { call, isAfter });
  return inDirectory(tools, parent, path.resolve(request.directory), pictures, recorded);
}

/** The files under one root at a moment. */
interface Picture {
  readonly root: string;
  readonly facts: CheckpointFacts;
  readonly phase: 'pre' | 'post';
}

/** For every root that tool calls worked in, and that is in no other, its files at an instant. */
function picturesOf(
  recorded: readonly CheckpointFacts[],
  moment: string,
  at: { readonly call: CheckpointFacts; readonly isAfter: boolean } | undefined,
): readonly Picture[] {
  const roots = new Set(recorded.flatMap(({ root }) => (root === undefined ? [] : [root])));
  const outer = [...roots].filter(root => ![...roots].some(other => other !== root && isInside(other, root)));
  return outer.flatMap(root => {
    const own = recorded.filter(one => one.root === root && one.within === undefined);
    if (at !== undefined && at.call.root === root) {
      return [{ root, facts: at.call, phase: at.isAfter ? ('post' as const) : ('pre' as const) }];
    }
    const last = own.findLast(one => one.at <= moment);
    const facts = last ?? own[0];
    return facts === undefined
      ? []
      : [{ root, facts, phase: last === undefined ? ('pre' as const) : ('post' as const) }];
  });
}

/** Puts the files into an empty directory, each root in its place of the parent's directory. */
async function inDirectory(
  tools: AgentTools | undefined,
  { workingDirectory }: RunRecord,
  directory: string,
  pictures: readonly Picture[],
  recorded: readonly CheckpointFacts[],
): Promise<Result<ForkFiles, ErrorEnvelope>> {
  let isNew: boolean;
  try {
    isNew = mkdirSync(directory, { recursive: true }) !== undefined;
    if (readdirSync(directory).length > 0) return err(notMade(directory, 'it is not empty'));
  } catch (cause) {
    return err(notMade(directory, thrownMessage(cause)));
  }
  const remove = async () => {
    for (const name of readdirSync(directory)) rmSync(path.join(directory, name), { recursive: true, force: true });
    if (isNew) rmSync(directory, { recursive: true, force: true });
  };
  if (tools === undefined) return ok({ place: { workingDirectory: directory }, remove });
  for (const picture of pictures) {
    const { root } = picture;
    const inside = workingDirectory !== undefined && isInside(workingDirectory, root);
    const target = path.join(directory, inside ? path.relative(workingDirectory, root) : '');
    mkdirSync(target, { recursive: true });
    const made = await bringFiles(tools, target, recorded, picture);
    if (!made.ok) {
      await remove();
      return made;
    }
  }
  return ok({ place: { workingDirectory: directory }, remove });
}

async function bringFiles(
  tools: AgentTools,
  directory: string,
  recorded: readonly CheckpointFacts[],
  picture: Picture,
): Promise<Result<void, ErrorEnvelope>> {
  const files = tools.files(directory);
  if (!files.ok) return files;
  const tree = await pictured(tools, recorded, picture);
  if (!tree.ok) return tree;
  const made = await putFiles(files.value, tree.value, picture.facts.call);
  return made.ok ? ok(undefined) : made;
}

async function refAt(
  tools: AgentTools,
  recorded: readonly CheckpointFacts[],
  picture: Picture,
): Promise<Result<Digest, ErrorEnvelope>> {
  const files = tools.files(picture.root, picture.facts.place);
  if (!files.ok) return files;
  const tree = await pictured(tools, recorded, picture);
  if (!tree.ok) return tree;
  const { root } = (await files.value.encode({ tree: tree.value })) as { readonly root: Digest };
  return ok(root);
}

/** All files of a picture: the current ones, minus the changes of the call and later ones, if only those were recorded. */
async function pictured(
  tools: AgentTools,
  recorded: readonly CheckpointFacts[],
  { root, facts, phase }: Picture,
): Promise<Result<DirectoryNode, ErrorEnvelope>> {
  const files = tools.files(root, facts.place);
  if (!files.ok) return files;
  const own = recorded.filter(one => one.root === root && one.within === undefined);
  const outer = facts.within ?? facts.call;
  const list: ToolCheckpoint[] = [];
  for (const one of own.slice(own.findIndex(({ call, task }) => call === outer && task === facts.task))) {
    const checkpoint = await readCheckpoint(one, files.value);
    if (!checkpoint.ok) return checkpoint;
    list.push(checkpoint.value);
  }
  const chain = checkpointsFrom(list, facts.call);
  const now = await files.value.snapshot();
  const tree = treeAt(chain, phase, now.ok ? now.value.tree : undefined);
  if (tree === undefined && !now.ok) return now;
  return tree === undefined ? err(checkpointUnknown(facts.call, phase)) : ok(tree);
}

export function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}

function notMade(directory: string, why: string): ErrorEnvelope {
  return failure('state/fork-failed', {
    message: `The fork cannot use the directory ${directory}: ${why}.`,
    suggestion: 'Give an empty, writable directory.',
  });
}
