import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { seededRng, startChild, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { openHome } from '../src/host/open-home.ts';
import { thisMachine } from '../src/machine.ts';
import { planText, testHostOf } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const child = childScript(import.meta.dirname, 'support', 'fork-crash-child.ts');

const plan = planText(
  `<Phase name="all"><Step><Agent id="one" model="anthropic:claude-test" prompt="Go." maxTurns={3} /></Step></Phase>`,
).replace("name: 'test'", "name: 'test', workspace: true");

/** A run with a workspace in which an agent wrote many files with one call each. */
async function runWithFiles() {
  const folder = temporaryFolder();
  const dataDirectory = path.join(folder, 'data');
  const project = path.join(folder, 'project');
  mkdirSync(project);
  for (let n = 0; n < 40; n += 1) writeFileSync(path.join(project, `file-${n}`), `before ${n}`);
  const server = await startModelServer(({ call }) =>
    call === 1 ? { calls: [{ tool: 'write_file', input: { path: 'file-0', content: 'after' } }] } : { text: 'Done.' },
  );
  onTestFinished(() => server.close());
  const open = async () => {
    const home = await openHome({
      dataDirectory,
      machine: thisMachine(),
      env: { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url },
      threads: { threads: 1 },
    });
    if (!home.ok) throw new Bug(home.error.message);
    return { ...home.value, ...testHostOf(folder, home.value.host, home.value.owned.store, home.value.close) };
  };
  const first = await open();
  const run = await first.start('plan', plan, { directory: project });
  expect(await first.end(run)).toMatchObject({ status: 'completed' });
  const [call] = await first.host.checkpoints(run).then(found => (found.ok ? found.value : []));
  await first.close();
  return { dataDirectory, open, run, call: call?.call ?? '' };
}

/** The contents of a reopened data directory: the forks, their files, and the run itself. */
async function look({ dataDirectory, open, run }: Awaited<ReturnType<typeof runWithFiles>>) {
  const { store, close } = await open();
  const forks = (await store.children(run)).map(({ id }) => id);
  const picture = {
    forks,
    files: forks.map(id => readdirSync(path.join(`${dataDirectory}-workspaces`, id)).length),
    workspaces: readdirSync(`${dataDirectory}-workspaces`).sort(),
    parent: JSON.stringify([await store.run(run), await store.events(run, 0, 999), await store.tasks(run)]),
    undone: (await store.events(run, 0, 999)).filter(({ event }) => event.type === 'call.undone').length,
    content: readFileSync(path.join((await store.run(run))?.workspace?.path ?? '', 'file-0'), 'utf8'),
  };
  await close();
  return picture;
}

/** Runs the child; from outside it is killed so long after it began. */
async function life(args: readonly string[], killAfterMs?: number) {
  const running = startChild(child, ...args);
  onTestFinished(() => running.kill());
  if (killAfterMs !== undefined) {
    await running.firstLine;
    const until = performance.now() + killAfterMs;
    while (performance.now() < until) await new Promise(resolve => setImmediate(resolve));
    running.kill();
  }
  return running.ended;
}

describe('a process that is killed', () => {
  it('[A46] while it forks leaves the fork or nothing of it, and never touches the parent', async () => {
    const world = await runWithFiles();
    const start = await look(world);
    expect(start).toMatchObject({ forks: [], workspaces: [world.run] });
    const fork = (...when: readonly string[]) => [world.dataDirectory, 'fork', world.run, '0', ...when];

    expect(await life(fork('before'))).toMatchObject({ signal: 'SIGKILL' });
    expect(await look(world)).toEqual(start);
    expect(await life(fork('after'))).toMatchObject({ signal: 'SIGKILL' });
    let now = await look(world);
    expect(now).toMatchObject({ files: [40], parent: start.parent });
    expect(now.forks).toHaveLength(1);

    const rng = seededRng(7);
    for (let round = 0; round < (SOAK ? 40 : 1); round += 1) {
      const delay = (rng.bytes(1)[0] ?? 0) / 8;
      const ended = await life(fork(), delay);
      const then = await look(world);
      expect(then.parent).toBe(start.parent);
      expect([now.forks.length, now.forks.length + 1]).toContain(then.forks.length);
      if (ended.signal === null) expect(then.forks.length).toBe(now.forks.length + 1);
      expect(then.files).toEqual(then.forks.map(() => 40));
      expect(then.workspaces).toEqual([...then.forks, world.run].sort());
      now = then;
    }
  });

  it('[A46] while it undoes leaves the files of before or of after; asking again completes the log', async () => {
    const world = await runWithFiles();
    const undo = (...when: readonly string[]) => [world.dataDirectory, 'undo', world.run, world.call, ...when];
    expect(await look(world)).toMatchObject({ content: 'after', undone: 0 });
    expect(await life(undo('before'))).toMatchObject({ signal: 'SIGKILL' });
    expect(await look(world)).toMatchObject({ content: 'before 0', undone: 0 });
    expect(await life(undo('after'))).toMatchObject({ signal: 'SIGKILL' });
    expect(await look(world)).toMatchObject({ content: 'before 0', undone: 1 });
    expect(await life(undo())).toMatchObject({ code: 0 });
    expect(await look(world)).toMatchObject({ content: 'before 0', undone: 1 });
  });
});
