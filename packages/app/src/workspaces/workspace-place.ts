import * as fs from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, runId, thrownMessage } from '@signalbox/model';
import type { RunWorkspace } from '@signalbox/runs';
import { DEFAULT_OPAQUE, type ForbiddenPlaces, forbiddenPlaces } from '@signalbox/state';
import { makePrivateDirectory } from '../private-directory.ts';
import { addWorktree, git } from './git.ts';

/**
 * The directories of workspaces, one per run, beside the data directory: tools may not enter the data directory itself.
 *
 * W1  A note with the origin repository is written before a workspace is created, and stays until its run is found: the next start removes
 *     workspaces that were half created, or never had a run, and nothing else.
 * W2  The user's repository gets one worktree entry, named by the run, with a detached head: no branch, no hook is run, and the user's own
 *     tree is not touched. Removing the workspace removes the entry.
 */
export interface WorkspacePlaces {
  /** A workspace for a run, from the directory that it was started in. */
  make(run: RunId, directory: string): Promise<Result<MadeWorkspace, WorkspaceError>>;
  /** From the same origin, for another run. */
  makeLike(run: RunId, like: MadeWorkspace): Promise<Result<MadeWorkspace, WorkspaceError>>;
  remove(run: RunId, workspace: RunWorkspace): Promise<void>;
  /** Removes noted workspaces that have no run. */
  recover(isRun: (run: RunId) => Promise<boolean>): Promise<void>;
}

export interface MadeWorkspace {
  readonly workspace: RunWorkspace;
  /** The working directory in it. */
  readonly workingDirectory: string;
}

type WorkspaceError = ErrorEnvelope<'workspace/failed' | 'workspace/none'>;

const MAKING = '.making';

export function workspacePlaces(dataDirectory: string): WorkspacePlaces {
  const home = `${path.resolve(dataDirectory)}-workspaces`;
  const placeOf = (run: RunId) => path.join(home, run);

  async function makeFrom(
    run: RunId,
    origin: Omit<RunWorkspace, 'path'>,
    inside: string,
  ): Promise<Result<MadeWorkspace, WorkspaceError>> {
    const workspace: RunWorkspace = { ...origin, path: placeOf(run) };
    const note = `${workspace.path}${MAKING}`;
    try {
      makePrivateDirectory(home);
      writeDurably(note, JSON.stringify(origin));
      if (origin.vcs === 'none') copyFiles(origin.base, workspace.path, forbiddenPlaces([dataDirectory, home]));
      else {
        const added = await addWorktree(origin.base, workspace.path, origin.commit ?? 'HEAD');
        if (added.code !== 0) throw new Error(added.said);
      }
      const workingDirectory = path.join(workspace.path, inside);
      fs.mkdirSync(workingDirectory, { recursive: true });
      return ok({ workspace, workingDirectory });
    } catch (cause) {
      await takeBack(run, origin);
      return err(notMade(run, cause));
    }
  }

  /** Removes whatever exists of it. */
  async function takeBack(run: RunId, { vcs, base }: Omit<RunWorkspace, 'path'>): Promise<void> {
    const place = placeOf(run);
    if (vcs === 'git' && fs.existsSync(base)) {
      await git(base, ['worktree', 'remove', '--force', '--force', place]);
      // A partly created one may not be a worktree to git yet, but its entry has our name.
      const common = await git(base, ['rev-parse', '--git-common-dir']);
      const entry = path.resolve(base, common.out.trim(), 'worktrees', run);
      if (common.code === 0) fs.rmSync(entry, { recursive: true, force: true });
    }
    fs.rmSync(place, { recursive: true, force: true });
    fs.rmSync(`${place}${MAKING}`, { force: true });
  }

  return {
    async make(run, directory) {
      let real: string;
      try {
        real = fs.realpathSync.native(directory);
      } catch (cause) {
        return err(notMade(run, cause));
      }
      const top = await git(real, ['rev-parse', '--show-toplevel']);
      const head = top.code === 0 ? await git(real, ['rev-parse', '--verify', 'HEAD^{commit}']) : top;
      if (head.code !== 0) return makeFrom(run, { vcs: 'none', base: real }, '');
      const base = fs.realpathSync.native(top.out.replace(/\n$/, ''));
      return makeFrom(run, { vcs: 'git', base, commit: head.out.trim() }, path.relative(base, real));
    },
    makeLike(run, { workspace: { path: place, ...origin }, workingDirectory }) {
      return makeFrom(run, origin, path.relative(place, workingDirectory));
    },
    remove: takeBack,
    async recover(isRun) {
      if (!fs.existsSync(home)) return;
      for (const name of fs.readdirSync(home).filter(entry => entry.endsWith(MAKING))) {
        const note = path.join(home, name);
        const run = runId.safeParse(path.basename(name, MAKING));
        if (!run.success) continue;
        if (await isRun(run.data)) fs.rmSync(note);
        else await takeBack(run.data, originOf(note));
      }
    },
  };
}

/** The content of a note; a truncated one says nothing, and then nothing was created. */
function originOf(note: string): Omit<RunWorkspace, 'path'> {
  try {
    const { vcs, base } = JSON.parse(fs.readFileSync(note, 'utf8')) as RunWorkspace;
    return { vcs, base };
  } catch {
    return { vcs: 'none', base: '' };
  }
}

/** Directory by directory: the source may contain the target. */
function copyFiles(from: string, to: string, without: ForbiddenPlaces): void {
  const opaque = new Set(DEFAULT_OPAQUE);
  fs.mkdirSync(to, { mode: 0o700 });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    const stat = fs.lstatSync(source, { throwIfNoEntry: false });
    if (stat === undefined || without.has(stat) || opaque.has(entry.name)) continue;
    if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target);
    else if (entry.isDirectory()) copyFiles(source, target, without);
    else if (entry.isFile()) fs.copyFileSync(source, target, fs.constants.COPYFILE_FICLONE);
  }
  fs.chmodSync(to, fs.statSync(from).mode & 0o777);
}

function writeDurably(file: string, text: string): void {
  const handle = fs.openSync(file, 'w', 0o600);
  try {
    fs.writeFileSync(handle, text);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  const directory = fs.openSync(path.dirname(file), 'r');
  try {
    fs.fsyncSync(directory);
  } finally {
    fs.closeSync(directory);
  }
}

function notMade(run: RunId, cause: unknown): WorkspaceError {
  return failure('workspace/failed', {
    message: `The workspace of run ${run} could not be created: ${thrownMessage(cause)}`,
    suggestion:
      'Check that the directory and its repository are readable, and that there is room next to the data directory.',
    details: { run },
  });
}
