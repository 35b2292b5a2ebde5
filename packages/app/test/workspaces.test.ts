import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Bug, type Digest, type ErrorEnvelope, type Result, type RunId, timestampOf } from '@signalbox/model';
import type { NewRun, NodeKey, Task, TaskId, WriteSet } from '@signalbox/runs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAgentTools } from '../src/agents/agent-tools.ts';
import { openOwnedStore } from '../src/host/owned-store.ts';
import { draftEvent } from '../src/host/run-events.ts';
import { thisMachine } from '../src/machine.ts';
import { runDiff } from '../src/workspaces/run-diff.ts';
import { openWorkspaceDesk } from '../src/workspaces/workspace-desk.ts';
import type { MadeWorkspace } from '../src/workspaces/workspace-place.ts';
import { workspaceAt } from '../src/workspaces/workspace-ref.ts';
import { git, gitRepository, pictureOf } from './support/git-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';

function must<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Bug(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

/** A desk on a data directory, and runs that nobody drives. */
async function openDesk(folder = temporaryFolder()) {
  const machine = thisMachine();
  const dataDirectory = path.join(folder, 'data');
  const owned = must(openOwnedStore(dataDirectory, machine));
  onTestFinished(() => owned.close());
  const { store } = owned;
  const tools = openAgentTools(dataDirectory, machine);
  const open = () => openWorkspaceDesk({ dataDirectory, machine, reader: store, blobs: store, tools });
  let desk = open();
  const at = () => timestampOf(machine.clock);
  const create = (made: MadeWorkspace): NewRun => ({
    driver: 'plan',
    name: 'plan',
    tags: [],
    ...made,
    status: 'running',
    phase: 'EXECUTE',
    mode: 'AUTO',
    globalMode: 'IMPLEMENTATION',
    input: null,
    limits: {},
    seed: 1,
  });
  let frames = 0;
  /** Commits a frame as the host does. */
  const frame = async (run: RunId, more: Partial<WriteSet> = {}, by = desk) => {
    desk = by;
    const record = await store.run(run);
    const index = record?.frames ?? 0;
    const written: WriteSet = {
      at: at(),
      frame: {
        index,
        at: at(),
        trigger: { kind: 'state' },
        mounted: [],
        unmounted: [],
        written: [],
        digest: `sha256:${String(frames++).padStart(64, '0')}` as never,
        verifiable: true,
      },
      ...more,
    };
    const guard = { run, epoch: record?.epoch ?? 0, version: record?.version ?? 0 };
    must(await store.commit(await desk.attach(written, run), guard));
  };
  const start = async (directory: string) => {
    const run = machine.ids.mint<RunId>();
    const made = must(await desk.make(run, directory));
    const record = create(made);
    const { driver, name } = record;
    await frame(run, { run: { kind: 'create', run: record }, events: [{ type: 'run.created', driver, name }] });
    return { run, ...made };
  };
  return { folder, home: `${dataDirectory}-workspaces`, machine, store, desk, open, frame, start };
}

/** Something was written that may be part of the files. */
const worked = (): Pick<WriteSet, 'events'> => ({
  events: [
    draftEvent(thisMachine(), 'file.written', {
      path: 'a.txt',
      digest: `sha256:${'0'.repeat(64)}` as Digest,
      bytes: 0,
      frame: 0,
    }),
  ],
});

describe('a workspace of a git repository', () => {
  it('[A78] is a worktree of its head, where the run works in its own directory; the repository stays as it was', async () => {
    const { folder, home, desk, store, start } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'a', 'sub/b.txt': 'b' });
    const before = pictureOf(repository);
    const { run, workspace, workingDirectory } = await start(path.join(repository, 'sub'));
    expect(workspace).toEqual({
      vcs: 'git',
      base: repository,
      path: path.join(home, run),
      commit: git(repository, 'rev-parse', 'HEAD').trim(),
    });
    expect(workingDirectory).toBe(path.join(home, run, 'sub'));
    expect(readdirSync(workspace.path).sort()).toEqual(['.git', '.gitignore', 'a.txt', 'sub']);
    writeFileSync(path.join(workingDirectory, 'b.txt'), 'changed');
    expect(git(workspace.path, 'status', '--porcelain').trim()).toBe('M sub/b.txt');
    expect(pictureOf(repository)).toEqual(before);
    expect(git(repository, 'branch', '--list').trim()).toBe('* main');
    const record = await store.run(run);
    await desk.remove(record as never);
    expect([existsSync(workspace.path), pictureOf(repository)]).toEqual([false, before]);
    expect(git(repository, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(existsSync(path.join(repository, '.git', 'worktrees', run))).toBe(false);
  });

  it('[A78] leaves worktrees of others alone, also those that are gone', async () => {
    const { folder, desk, store, start } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'a' });
    git(repository, 'worktree', 'add', '-q', '--detach', path.join(folder, 'mine'));
    rmSync(path.join(folder, 'mine'), { recursive: true });
    const { run } = await start(repository);
    await desk.remove((await store.run(run)) as never);
    expect(readdirSync(path.join(repository, '.git', 'worktrees'))).toEqual(['mine']);
  });
});

describe('a workspace without git', () => {
  it('[A79] is a copy, without what tools fill and without the data directory', async () => {
    const { folder, desk, store, start } = await openDesk();
    for (const name of ['node_modules', 'sub', '.git-not']) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, 'sub', 'run.sh'), 'echo', { mode: 0o755 });
    writeFileSync(path.join(folder, 'node_modules', 'x'), 'x');
    symlinkSync('sub/run.sh', path.join(folder, 'link'));
    const { run, workspace, workingDirectory } = await start(folder);
    expect([workspace.vcs, workingDirectory, readdirSync(workspace.path).sort()]).toEqual([
      'none',
      workspace.path,
      ['.git-not', 'link', 'sub'],
    ]);
    writeFileSync(path.join(workspace.path, 'sub', 'run.sh'), 'changed');
    expect(readFileSync(path.join(folder, 'sub', 'run.sh'), 'utf8')).toBe('echo');
    await desk.remove((await store.run(run)) as never);
    expect(existsSync(workspace.path)).toBe(false);
  });

  it('[A79] that cannot be made is an error, and nothing is left', async () => {
    const { folder, home, machine, desk } = await openDesk();
    const made = await desk.make(machine.ids.mint<RunId>(), path.join(folder, 'none'));
    expect(made).toMatchObject({ ok: false, error: { code: 'workspace/failed' } });
    expect(existsSync(home) ? readdirSync(home) : []).toEqual([]);
  });
});

describe('the files of a workspace', () => {
  it('[A80] come back as they were in any snapshot, and the difference is a patch', async () => {
    const { folder, desk, start } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one\n', 'gone.txt': 'x\n' });
    const { run, workspace } = await start(repository);
    const place = (name: string) => path.join(workspace.path, name);
    const first = must(await desk.snapshot(run));
    writeFileSync(place('a.txt'), 'two\n');
    rmSync(place('gone.txt'));
    writeFileSync(place('ignored'), 'kept too');
    mkdirSync(place('empty'));
    writeFileSync(place('bin'), Buffer.of(0, 1, 2, 255));
    chmodSync(place('a.txt'), 0o755);
    const second = must(await desk.snapshot(run));
    const diff = must(await desk.diff(run, first));
    expect(diff.files).toEqual([
      { path: 'a.txt', change: 'changed' },
      { path: 'bin', change: 'added' },
      { path: 'gone.txt', change: 'removed' },
      { path: 'ignored', change: 'added' },
    ]);
    expect(diff.patch).toContain('diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755');
    expect(diff.patch).toContain('-one\n+two\n');
    expect(diff.patch).toContain('diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644');
    expect(diff.patch).toContain('diff --git a/ignored b/ignored\nnew file mode 100644');
    must(await desk.rollback(run, first));
    expect(readdirSync(workspace.path).sort()).toEqual(['.git', '.gitignore', 'a.txt', 'gone.txt']);
    expect(must(await desk.snapshot(run))).toBe(first);
    expect(git(workspace.path, 'status', '--porcelain')).toBe('');
    must(await desk.rollback(run, second));
    expect([readFileSync(place('ignored'), 'utf8'), existsSync(place('empty'))]).toEqual(['kept too', true]);
    expect(must(await desk.diff(run, second))).toEqual({ files: [], patch: '' });
  });

  it('[A80] are not touched by a ref of nothing', async () => {
    const { folder, desk, start } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one' });
    const { run, workspace } = await start(repository);
    for (const ref of ['', 'HEAD', '../x', `sha256:${'0'.repeat(64)}`]) {
      expect((await desk.rollback(run, ref)).ok).toBe(false);
      expect((await desk.diff(run, ref)).ok).toBe(false);
    }
    expect(readFileSync(path.join(workspace.path, 'a.txt'), 'utf8')).toBe('one');
    expect(await desk.snapshot('018f0000-0000-7000-8000-00000000ffff' as RunId)).toMatchObject({
      error: { code: 'workspace/none' },
    });
  });

  it.each(['..', '.', '', 'a/../../b', '../../../tmp/x', 'a\0b'])(
    '[A80] of a snapshot from elsewhere do not lead out: %j',
    async name => {
      const { folder, desk, store, start } = await openDesk();
      const { run, workspace } = await start(gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one' }));
      const owned = { mode: 0o755, uid: 0, gid: 0 };
      const [content] = must(await store.put([Buffer.from('evil')]));
      const entry = { name, kind: 'file', ...owned, size: 4, digest: content };
      const [tree] = must(await store.put([Buffer.from(JSON.stringify({ version: 1, ...owned, entries: [entry] }))]));
      const first = must(await desk.snapshot(run));
      for (const refused of [
        desk.diff(run, first, tree),
        desk.rollback(run, tree ?? ''),
        desk.materialize(tree ?? '', workspace.path),
      ]) {
        expect(await refused).toMatchObject({ ok: false, error: { code: 'state/snapshot-failed' } });
      }
      expect(must(await desk.snapshot(run))).toBe(first);
    },
  );

  it('[A81] are named by frames: each says which snapshot held, and only where they may have changed is one taken', async () => {
    const { folder, store, start, frame } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one\n' });
    const { run, workspace } = await start(repository);
    writeFileSync(path.join(workspace.path, 'a.txt'), 'two\n');
    await frame(run);
    await frame(run, worked());
    const refs = await Promise.all([0, 1, 2].map(index => workspaceAt(store, run, index)));
    expect([refs[0] === refs[1], refs[1] === refs[2], refs.every(ref => ref !== undefined)]).toEqual([
      true,
      false,
      true,
    ]);
    const record = (await store.run(run)) as never;
    const ports = { reader: store, blobs: store };
    expect(must(await runDiff(ports, record, 1))).toEqual({ frame: 1, files: [], patch: '' });
    expect(must(await runDiff(ports, record))).toMatchObject({
      frame: 2,
      files: [{ path: 'a.txt', change: 'changed' }],
    });
    expect(await runDiff(ports, record, 3)).toMatchObject({ error: { code: 'run/frame-unknown' } });
  });

  it('[A81] of a frame can be had elsewhere, as a worktree of their own', async () => {
    const { folder, machine, desk, store, start, frame } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one', 'sub/b.txt': 'b' });
    const { run, workspace } = await start(path.join(repository, 'sub'));
    writeFileSync(path.join(workspace.path, 'a.txt'), 'two');
    writeFileSync(path.join(workspace.path, 'new.txt'), 'new');
    await frame(run, worked());
    writeFileSync(path.join(workspace.path, 'a.txt'), 'three');
    await frame(run, worked());
    const fork = machine.ids.mint<RunId>();
    const made = must(await desk.fork(fork, (await store.run(run)) as never, 1));
    const text = (name: string) => readFileSync(path.join(made?.workspace.path ?? '', name), 'utf8');
    expect([
      text('a.txt'),
      text('new.txt'),
      path.relative(made?.workspace.path ?? '', made?.workingDirectory ?? ''),
    ]).toEqual(['two', 'new', 'sub']);
    expect(git(made?.workspace.path ?? '', 'rev-parse', '--git-dir').trim()).toContain(`worktrees/${fork}`);
    expect(readFileSync(path.join(workspace.path, 'a.txt'), 'utf8')).toBe('three');
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    must(await desk.materialize((await workspaceAt(store, run, 0)) ?? '', elsewhere));
    expect(readdirSync(elsewhere).sort()).toEqual(['.gitignore', 'a.txt', 'sub']);
  });
});

describe('the work of agents in a workspace', () => {
  const task = (status: Task['status'], fields: Partial<Task> = {}): Task => ({
    ...{ id: '018f0000-0000-7000-8000-000000000001' as TaskId, node: 'agent' as NodeKey, iteration: 0, signature: 's' },
    ...{
      status,
      effects: 'undoable',
      retryCount: 0,
      maxRetries: 3,
      backoffMs: 1,
      createdAt: timestampOf({ now: () => 0 }),
    },
    ...fields,
  });

  it('[A85] leaves a difference with the commit of its end, from its first beginning on, also where there is none', async () => {
    const { folder, store, open, start, frame } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one\n' });
    const { run, workspace } = await start(repository);
    await frame(run, { tasks: [task('running')] });
    writeFileSync(path.join(workspace.path, 'a.txt'), 'two\n');
    // Its process died, and another one goes on.
    await frame(run, { tasks: [task('pending', { retryCount: 1 })] }, open());
    await frame(run, { tasks: [task('running', { retryCount: 1 })] });
    writeFileSync(path.join(workspace.path, 'b.txt'), 'b\n');
    await frame(run, { tasks: [task('done', { retryCount: 1, result: null })] });
    const other = { id: '018f0000-0000-7000-8000-000000000002' as TaskId };
    await frame(run, { tasks: [task('running', other)] });
    await frame(run, { tasks: [task('done', { ...other, result: null })] });
    const found = await store.artifacts(run);
    expect(found.map(({ kind, node, task: of, diff }) => [kind, node, of, diff])).toEqual([
      ['diff', 'agent', task('done').id, { filesChanged: ['a.txt', 'b.txt'], summary: '2 files changed' }],
      ['diff', 'agent', other.id, { filesChanged: [], summary: 'no changes' }],
    ]);
    expect(found[0]?.content).toContain('-one\n+two\n');
    const told = (await store.events(run, 0, 100)).filter(({ event }) => event.type === 'artifact.created');
    expect(told).toHaveLength(2);
  });
});

describe('a workspace that was cut off in the making', () => {
  it('[A82] is gone after the next opening, with its entry; those of runs stay', async () => {
    const { folder, home, machine, open, start } = await openDesk();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one' });
    const before = pictureOf(repository);
    const { run } = await start(repository);
    const [noted, halfEntry, half, whole] = Array.from({ length: 4 }, () => machine.ids.mint<RunId>());
    const note = (id: RunId | undefined) =>
      writeFileSync(path.join(home, `${id}.making`), JSON.stringify({ vcs: 'git', base: repository }));
    // Only that it begins was written down.
    note(noted);
    // git had begun its entry.
    note(halfEntry);
    mkdirSync(path.join(repository, '.git', 'worktrees', halfEntry ?? ''), { recursive: true });
    writeFileSync(path.join(repository, '.git', 'worktrees', halfEntry ?? '', 'locked'), 'initializing');
    mkdirSync(path.join(home, halfEntry ?? ''));
    // The checkout was not finished.
    note(half);
    git(repository, 'worktree', 'add', '-q', '--detach', '--no-checkout', '--lock', path.join(home, half ?? ''));
    // It was made, and its run never began.
    note(whole);
    git(repository, 'worktree', 'add', '-q', '--detach', path.join(home, whole ?? ''));
    rmSync(path.join(repository, '.git', 'hook-ran'), { force: true });
    // A note that was torn, a note that is none, and what nobody noted.
    writeFileSync(path.join(home, `${machine.ids.mint<RunId>()}.making`), '{"vcs":');
    for (const name of ['..making', 'x.making', 'somebody']) writeFileSync(path.join(home, name), '');
    await open().recover();
    expect(readdirSync(home).sort()).toEqual(['..making', run, 'somebody', 'x.making']);
    expect(readdirSync(path.join(repository, '.git', 'worktrees'))).toEqual([run]);
    expect(pictureOf(repository)).toEqual(before);
  });
});
