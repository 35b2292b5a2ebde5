import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import { detectSandbox } from '@signalbox/state';
import { type ModelScript, startChild, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { planText } from './support/open-host.ts';
import { MODEL_KEY, openTestHome } from './support/open-scripted-home.ts';
import { temporaryFolder } from './temporary-folder.ts';

const BY = 'ada';
const sandbox = await detectSandbox();
const hasCommands = sandbox.ok;

async function openWorld(folder: string, script: ModelScript) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const work = path.join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const env = { ANTHROPIC_API_KEY: MODEL_KEY, ANTHROPIC_BASE_URL: server.url };
  const open = () => openTestHome(folder, { env });
  return { server, open, work, file: (name: string) => path.join(work, name) };
}

const value = <T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: object },
): T => {
  if (!result.ok) throw new Bug(JSON.stringify(result.error));
  return result.value;
};

const write = (name: string, content: string) => ({ calls: [{ tool: 'write_file', input: { path: name, content } }] });
const agent = `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." maxTurns={9} permissions="skip"
  onFinished={said => ctx.state.set('said', said)} />`;
const shape = 'z.object({ said: z.any() })';
/** An agent works, and then a person is asked. */
const askAfter = planText(
  `<Phase name="all"><Step>${agent}</Step><Step><Human id="ask" prompt="Go?" /></Step></Phase>`,
  shape,
);

/** The files under the directory that agents work in. */
const contents = (work: string) =>
  Object.fromEntries(
    ['a.txt', 'b.txt', 'c.txt'].flatMap(name => {
      const file = path.join(work, name);
      return existsSync(file) ? [[name, readFileSync(file, 'utf8').trim()]] : [];
    }),
  );

type Host = Awaited<ReturnType<Awaited<ReturnType<typeof openWorld>>['open']>>;

async function eventsOf({ store }: Pick<Host, 'store'>, run: RunId) {
  return (await store.events(run, 0, 999)).map(({ event }) => event);
}

describe('a rollback', () => {
  it('[A215] takes files, state and transcript back together, dry and for real, and the fork goes on', async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, 'data');
    const { open, server, work } = await openWorld(folder, ({ call }) =>
      call <= 3 ? write(['a.txt', 'b.txt', 'a.txt'][call - 1] ?? '', `${call}`) : { text: `Done after ${call}.` },
    );
    writeFileSync(path.join(work, 'a.txt'), 'mine');
    const world = await open();
    const { host, store, start, end, state } = world;
    const run = await start('plan', askAfter);
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const [, second, third] = value(await host.checkpoints(run)).map(({ call }) => call) as [string, string, string];
    const log = await eventsOf(world, run);

    const report = {
      calls: [second, third].map(call => ({ call, tool: 'write_file' })),
      directory: path.dirname(work),
      paths: ['work/b.txt', 'work/a.txt'],
      removed: ['work/b.txt'],
      lost: [],
      effects: [],
    };
    const planned = value(await host.rollback(run, { call: second, dryRun: true }, BY));
    expect(planned).toEqual({ frame: expect.any(Number), ...report });
    expect(contents(work)).toEqual({ 'a.txt': '3', 'b.txt': '2' });
    expect(await eventsOf(world, run)).toEqual(log);

    const asked = server.requests.length;
    const done = value(await host.rollback(run, { call: second, paused: true }, BY));
    const fork = done.run as RunId;
    expect(done).toEqual({ ...planned, run: fork });
    expect(contents(work)).toEqual({ 'a.txt': '1' });
    expect(await store.run(fork)).toMatchObject({
      status: 'paused',
      origin: { kind: 'fork', run, frame: planned.frame },
      workingDirectory: (await store.run(run))?.workingDirectory,
    });
    expect(await state(fork)).toEqual({});
    expect(await end(run)).toEqual({ status: 'stopped', stopReason: `rolled back to ${second}; goes on as ${fork}` });
    const told = (await eventsOf(world, run)).slice(log.length);
    expect(told).toMatchObject([
      { type: 'call.undone', call: second, paths: ['b.txt'], by: BY },
      { type: 'call.undone', call: third, paths: ['a.txt'], by: BY },
      ...told.slice(2).map(() => ({})),
    ]);
    expect(told.filter(({ type }) => type === 'run.rolled_back')).toMatchObject([
      { call: second, tool: 'write_file', node: 'agent', fork, by: BY },
    ]);
    expect(value(await host.checkpoints(run)).map(({ undone }) => undone)).toEqual([false, true, true]);

    // The fork does the call again, in the same directory, and the model goes on from what it knew then.
    value(await host.rollback(run, { call: second }, BY));
    expect(await end(fork)).toMatchObject({ status: 'waiting' });
    expect(contents(work)).toEqual({ 'a.txt': '1', 'b.txt': '2' });
    expect(await state(fork)).toEqual({ said: `Done after ${asked + 1}.` });
    for (const id of [run, fork]) {
      expect(value(await verifyRun(data, id))).toMatchObject({ ok: true, run: id });
      expect(value(await verifyRunReplay(data, id, { machine: thisMachine() }))).toMatchObject({ ok: true });
    }
  });

  it('[A215] to after a call keeps it, and resumes the fork', async () => {
    const { open, work } = await openWorld(temporaryFolder(), ({ call }) =>
      call <= 2 ? write(call === 1 ? 'a.txt' : 'b.txt', `${call}`) : { text: 'Done.' },
    );
    const world = await open();
    const { host, start, end, state } = world;
    const run = await start('plan', planText(agent, shape));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const [first] = value(await host.checkpoints(run)).map(({ call }) => call) as [string];
    const done = value(await host.rollback(run, { call: first, after: true }, BY));
    expect(done).toMatchObject({ paths: ['work/b.txt'], calls: [{ tool: 'write_file' }] });
    expect(await end(done.run as RunId)).toMatchObject({ status: 'completed' });
    expect(contents(work)).toEqual({ 'a.txt': '1' });
    expect(await state(done.run as RunId)).toEqual({ said: 'Done.' });
    // A completed run stays completed.
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect((await eventsOf(world, run)).at(-1)).toMatchObject({ type: 'run.rolled_back', after: true });
  });

  it.skipIf(!hasCommands)('[A215] undoes what commands and agents of sub-plans did, in the order of time', async () => {
    const folder = temporaryFolder();
    const command = (script: string) => ({
      calls: [{ tool: 'run_command', input: { command: ['sh', '-c', script] } }],
    });
    const { open, work } = await openWorld(folder, ({ call }) => {
      const replies = [
        command('echo 1 > a.txt; rm c.txt'),
        command('echo 2 >> a.txt; mkdir dir; echo d > dir/d'),
        { text: 'Done.' },
        command('echo 3 > a.txt; rm -r dir; echo b > b.txt'),
      ];
      return replies[call - 1] ?? { text: 'Done.' };
    });
    writeFileSync(path.join(work, 'a.txt'), 'mine');
    writeFileSync(path.join(work, 'c.txt'), 'mine');
    writeFileSync(path.join(folder, 'sub.tsx'), planText(agent.replace('id="agent"', 'id="below"'), shape));
    const { host, start, end } = await open();
    const run = await start(
      'plan',
      planText(
        `<Phase name="all"><Step>${agent}</Step><Step><SubPlan id="sub" plan={sub} input={{}} /></Step>
         <Step><Human id="ask" prompt="Go?" /></Step></Phase>`,
        shape,
        `import sub from './sub.tsx';`,
      ),
    );
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    expect(contents(work)).toEqual({ 'a.txt': '3', 'b.txt': 'b' });
    const [first, second] = value(await host.checkpoints(run)).map(({ call }) => call) as [string, string];
    const planned = value(await host.rollback(run, { call: first, dryRun: true }, BY));
    expect(planned.calls.length).toBe(3);
    const acceptEffects = planned.effects.length > 0;
    value(await host.rollback(run, { call: second, paused: true, acceptEffects }, BY));
    expect([contents(work), existsSync(path.join(work, 'dir'))]).toEqual([{ 'a.txt': '1' }, false]);
    // A rollback that goes further back leaves out calls that are already undone.
    const further = value(await host.rollback(run, { call: first, paused: true, acceptEffects }, BY));
    expect(further.calls.map(({ call }) => call)).toEqual([first]);
    expect(contents(work)).toEqual({ 'a.txt': 'mine', 'c.txt': 'mine' });
  });

  it('[A216] changes nothing where somebody else changed a path, or effects outside are not accepted', async () => {
    const { open, work } = await openWorld(temporaryFolder(), ({ call }) =>
      call <= 2 ? write(call === 1 ? 'a.txt' : 'b.txt', `${call}`) : { text: 'Done.' },
    );
    const world = await open();
    const { host, store, start, end } = world;
    const sends = `<Step><Task id="send" effects="external" run={() => 1} /></Step>`;
    const run = await start('plan', askAfter.replace('<Step><Human', `${sends}<Step><Human`));
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const [first] = value(await host.checkpoints(run)).map(({ call }) => call) as [string];
    const log = await eventsOf(world, run);
    const isUntouched = async () => {
      expect(await eventsOf(world, run)).toEqual(log);
      expect(await store.children(run)).toEqual([]);
      expect(contents(work)).toMatchObject({ 'a.txt': '1' });
    };
    expect(value(await host.rollback(run, { call: first, dryRun: true }, BY)).effects).toEqual(['the work of send']);
    expect(await host.rollback(run, { call: first }, BY)).toMatchObject({ error: { code: 'run/effects-outside' } });
    await isUntouched();
    writeFileSync(path.join(work, 'b.txt'), 'mine');
    for (const dryRun of [true, false]) {
      expect(await host.rollback(run, { call: first, acceptEffects: true, dryRun }, BY)).toMatchObject({
        error: { code: 'state/conflict', details: { paths: ['work/b.txt'] } },
      });
    }
    await isUntouched();
    for (const call of ['nothing', 'x/1/1/0']) {
      expect(await host.rollback(run, { call }, BY)).toMatchObject({ error: { code: 'state/checkpoint-unknown' } });
    }
    writeFileSync(path.join(work, 'b.txt'), '2');
    const { run: fork } = value(await host.rollback(run, { call: first, acceptEffects: true, paused: true }, BY));
    expect(await eventsOf(world, fork as RunId)).toMatchObject([{}, { effects: ['the work of send'] }, {}]);
  });

  it('[A217] is done once, and once more where the run was resumed since', async () => {
    const { open, work } = await openWorld(temporaryFolder(), ({ since }) =>
      since.some(part => part.kind === 'result') ? { text: 'Done.' } : write('a.txt', 'agent'),
    );
    const world = await open();
    const { host, store, start, end } = world;
    const run = await start('plan', askAfter);
    await end(run);
    const [call = ''] = value(await host.checkpoints(run)).map(one => one.call);
    const both = await Promise.all([host.rollback(run, { call }, BY), host.rollback(run, { call }, BY)]);
    const fork = value(both[0]).run as RunId;
    expect(value(both[1]).run).toBe(fork);
    expect(await end(fork)).toMatchObject({ status: 'waiting' });
    // The fork did the same work again: that is not undone.
    expect(contents(work)).toEqual({ 'a.txt': 'agent' });
    const again = value(await host.rollback(run, { call }, BY));
    expect(again).toMatchObject({ run: fork, calls: [], paths: [] });
    expect(contents(work)).toEqual({ 'a.txt': 'agent' });
    expect((await store.children(run)).map(({ id }) => id)).toEqual([fork]);

    value(await host.resume(run));
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const other = value(await host.rollback(run, { call, paused: true }, BY));
    expect(other.run).not.toBe(fork);
    expect(await end(run)).toMatchObject({ stopReason: `rolled back to ${call}; goes on as ${other.run}` });
  });

  it('[A217] that is killed between any two of its steps is finished by asking again', async () => {
    const folder = temporaryFolder();
    const { open, work } = await openWorld(folder, ({ call }) =>
      call <= 2 ? write(call === 1 ? 'a.txt' : 'b.txt', `${call}`) : { text: 'Done.' },
    );
    const first = await open();
    const run = await first.start('plan', askAfter);
    expect(await first.end(run)).toMatchObject({ status: 'waiting' });
    const [call = ''] = value(await first.host.checkpoints(run)).map(one => one.call);
    await first.close();
    const child = childScript(import.meta.dirname, 'support', 'fork-crash-child.ts');
    const life = async (...when: readonly string[]) => {
      const running = startChild(child, path.join(folder, 'data'), 'rollback', run, call, ...when);
      onTestFinished(() => running.kill());
      return running.ended;
    };
    const look = async () => {
      const world = await open();
      const events = await eventsOf(world, run);
      const count = (type: string) => events.filter(event => event.type === type).length;
      const picture = {
        files: contents(work),
        undone: count('call.undone'),
        forks: (await world.store.children(run)).length,
        status: (await world.store.run(run))?.status,
        told: count('run.rolled_back'),
      };
      await world.close();
      return picture;
    };
    const files = {};
    // Each life makes one step more, and dies before or right after the next is recorded.
    const steps = [
      ['before', { files, undone: 0, forks: 0, status: 'waiting', told: 0 }],
      ['after', { files, undone: 2, forks: 0, status: 'waiting', told: 0 }],
      ['before', { files, undone: 2, forks: 0, status: 'waiting', told: 0 }],
      ['after', { files, undone: 2, forks: 1, status: 'waiting', told: 0 }],
      ['before', { files, undone: 2, forks: 1, status: 'waiting', told: 0 }],
      ['after', { files, undone: 2, forks: 1, status: 'stopped', told: 0 }],
      ['before', { files, undone: 2, forks: 1, status: 'stopped', told: 0 }],
      ['after', { files, undone: 2, forks: 1, status: 'stopped', told: 1 }],
    ] as const;
    for (const [when, picture] of steps) {
      expect(await life(when)).toMatchObject({ signal: 'SIGKILL' });
      expect(await look()).toEqual(picture);
    }
    expect(await life()).toMatchObject({ code: 0 });
    expect(await look()).toEqual(steps.at(-1)?.[1]);
  });

  it('[A218] stops a run that works, with what is under way, before it undoes', async () => {
    const { open, server, work } = await openWorld(temporaryFolder(), ({ call }) =>
      call === 1
        ? write('a.txt', 'agent')
        : { text: 'Done.', ...(call === 2 && { fault: { kind: 'slow-start' as const } }) },
    );
    const world = await open();
    const { host, start, end } = world;
    const run = await start('plan', askAfter);
    await server.holding();
    const [call = ''] = value(await host.checkpoints(run)).map(one => one.call);
    const done = value(await host.rollback(run, { call, paused: true }, BY));
    expect(contents(work)).toEqual({});
    expect(host.driven()).toEqual([]);
    expect(await end(run)).toEqual({ status: 'stopped', stopReason: `rolled back to ${call}; goes on as ${done.run}` });
    value(await host.resume(done.run as RunId));
    expect(await end(done.run as RunId)).toMatchObject({ status: 'waiting' });
    expect(contents(work)).toEqual({ 'a.txt': 'agent' });
  });

  it('[A219] leaves a workspace alone: the fork has one of its own', async () => {
    const folder = temporaryFolder();
    const { open } = await openWorld(folder, ({ call }) =>
      call <= 2 ? write('a.txt', `version ${call}`) : { text: 'Done.' },
    );
    const project = path.join(folder, 'project');
    mkdirSync(project);
    writeFileSync(path.join(project, 'a.txt'), 'version 0');
    const { host, store, start, end } = await open();
    const plan = planText(agent.replace('cwd="work"', ''), shape).replace(
      "name: 'test'",
      "name: 'test', workspace: true",
    );
    const run = await start('plan', plan, { directory: project });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const [, second = ''] = value(await host.checkpoints(run)).map(one => one.call);
    const done = value(await host.rollback(run, { call: second, paused: true }, BY));
    expect(done).toMatchObject({ calls: [], paths: [] });
    const fileOf = async (id: RunId) =>
      readFileSync(path.join((await store.run(id))?.workspace?.path ?? '', 'a.txt'), 'utf8');
    expect([await fileOf(run), await fileOf(done.run as RunId)]).toEqual(['version 2', 'version 1']);
  });
});
