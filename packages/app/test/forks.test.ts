import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Assignment, RunReader } from '@signalbox/runs';
import { defineTool, fail } from '@signalbox/state';
import type { ModelScript } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { isChained } from '../../runs/test/log-chain.ts';
import { openAgentTools } from '../src/agents/agent-tools.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { textsOf } from '../src/retention/run-folders.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { readCheckpoints, readKept } from '../src/undo/checkpoint-files.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { temporaryFolder } from './temporary-folder.ts';

const BY = 'ada';

/** Three steps that add up, and what they add depends on the input. */
const sums = planText(
  `<Phase name="all">
    {[1, 2, 3].map(n => (
      <Step key={n}>
        <Task id={'t' + n} run={() => n * (ctx.input.base ?? 1)} onFinished={v => ctx.state.update('sum', s => s + (v as number))} />
      </Step>
    ))}
  </Phase>`,
  `z.object({ sum: z.number().default(0), mode: z.enum(['a', 'b']).default('a') })`,
);

async function open() {
  const folder = temporaryFolder();
  const opened = await openTestHost(folder, { threads: { threads: 1 } });
  onTestFinished(() => opened.close());
  return { dataDirectory: path.join(folder, 'data'), ...opened };
}

const openWithAgents = (folder: string, script: ModelScript) => openScriptedHome(folder, script, false);

const value = <T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: object },
): T => {
  if (!result.ok) throw new Bug(JSON.stringify(result.error));
  return result.value;
};

/** Everything that is kept of a run, as text. */
async function bytesOf(reader: RunReader, run: RunId): Promise<string> {
  const spaces = ['node', 'status', 'state', 'read', 'workspace'] as const;
  return JSON.stringify([
    await reader.run(run),
    await reader.frames(run, 0, 1000),
    await Promise.all(
      spaces.flatMap(space => [0, 1, 99].map(async frame => [...(await reader.at(run, space, frame))])),
    ),
    await reader.transitions(run, { limit: 1000 }),
    await reader.tasks(run),
    await reader.events(run, 0, 10_000),
  ]);
}

describe('a fork of a run', () => {
  it('[A38] goes on from any frame in a run of its own; the parent is as it was, and both chains hold', async () => {
    const { dataDirectory, host, store, start, end, state } = await open();
    const run = await start('sums', sums);
    expect(await end(run)).toMatchObject({ status: 'completed', output: { sum: 6 } });
    const before = await bytesOf(store, run);
    const frames = (await store.run(run))?.frames ?? 0;
    for (let frame = 0; frame < frames; frame += 1) {
      const fork = value(await host.fork(run, { at: { kind: 'frame', frame } }, BY));
      expect(await end(fork)).toMatchObject({ status: 'completed', output: { sum: 6 } });
      expect(await store.at(fork, 'state', 0)).toEqual(await store.at(run, 'state', frame));
      expect(await isChained(store, fork)).toBe(true);
    }
    expect(await bytesOf(store, run)).toBe(before);
    expect(await isChained(store, run)).toBe(true);

    const paused = value(await host.fork(run, { at: { kind: 'frame', frame: 1 }, paused: true, name: 'later' }, BY));
    expect(await store.run(paused)).toMatchObject({ status: 'paused', name: 'later', origin: { run, frame: 1 } });
    expect(await state(paused)).toEqual({ sum: 1, mode: 'a' });
    value(await host.resume(paused));
    expect(await end(paused)).toMatchObject({ status: 'completed' });
    const grandchild = value(await host.fork(paused, { at: { kind: 'frame', frame: 0 } }, BY));
    expect(await end(grandchild)).toMatchObject({ status: 'completed', output: { sum: 6 } });
    for (const id of [run, paused, grandchild]) {
      expect(value(await verifyRun(dataDirectory, id))).toMatchObject({ ok: true, run: id });
    }
    expect(value(await verifyRunReplay(dataDirectory, paused, { machine: thisMachine() }))).toMatchObject({ ok: true });
    expect(await host.fork(run, { at: { kind: 'frame', frame: 99 } }, BY)).toMatchObject({
      error: { code: 'run/frame-unknown' },
    });
  });

  it('[A39] past effects that the world keeps is refused by name until it is accepted, and then says so', async () => {
    const { host, store, start, end } = await open();
    const letter = planText(
      `<Phase name="all"><Step><Task id="write" run={() => 1} /></Step>
       <Step><Task id="send" effects="external" run={() => 2} /></Step></Phase>`,
    );
    const run = await start('letter', letter);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const last = ((await store.run(run))?.frames ?? 1) - 1;
    const refused = await host.fork(run, { at: { kind: 'frame', frame: 0 } }, BY);
    expect(refused).toMatchObject({
      error: { code: 'run/effects-outside', message: expect.stringContaining('send'), details: { run, frame: 0 } },
    });
    expect(await store.children(run)).toEqual([]);
    const fork = value(await host.fork(run, { at: { kind: 'frame', frame: 0 }, acceptEffects: true }, BY));
    expect(await end(fork)).toMatchObject({ status: 'completed' });
    const [, forked] = await store.events(fork, 0, 2);
    expect(forked?.event).toMatchObject({ type: 'run.forked', by: BY, effects: ['the work of send'] });
    // After it, there is nothing to accept.
    value(await host.fork(run, { at: { kind: 'frame', frame: last }, paused: true }, BY));
  });

  it('[A40] from a node does it and what depends on it anew; another input must be confirmed and is in the log', async () => {
    const { host, store, start, end } = await open();
    const run = await start('sums', sums);
    await end(run);
    const same = value(await host.fork(run, { at: { kind: 'node', node: 't2' } }, BY));
    expect(await end(same)).toMatchObject({ output: { sum: 6 } });
    const done = (await store.events(same, 0, 100)).flatMap(({ event }) =>
      event.type === 'task.ended' ? [event.node] : [],
    );
    expect(done).toEqual(['t2', 't3']);

    const request = { at: { kind: 'node', node: 't2' }, input: { base: 10 } } as const;
    expect(await host.fork(run, request, BY)).toMatchObject({
      error: { code: 'run/unconfirmed', details: { before: {}, after: { base: 10 } } },
    });
    const edited = value(await host.fork(run, { ...request, confirmed: true }, BY));
    expect(await end(edited)).toMatchObject({ output: { sum: 1 + 20 + 30 } });
    const [, forked] = await store.events(edited, 0, 2);
    expect(forked?.event).toMatchObject({ by: BY, node: 't2', input: { before: {}, after: { base: 10 } } });
    expect(await host.fork(run, { at: { kind: 'node', node: 'nowhere' } }, BY)).toMatchObject({
      error: { code: 'run/node-unknown' },
    });
  });
});

describe('interventions', () => {
  it('[A41] edit the state of a run that is driven or not, as its plan allows; who and why is in the log', async () => {
    const { host, store, start, end, state } = await open();
    const gate = planText(
      `{ctx.state.get('open') ? <Task id="go" run={() => 1} /> : <Human id="ask" prompt="Go?" />}`,
      'z.object({ open: z.boolean().default(false), note: z.string().optional() })',
    );
    const run = await start('gate', gate);
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const edit = (key: string, given: unknown) =>
      host.act(run, { kind: 'edit', key, value: given as never, reason: 'a test' }, BY);
    expect(await edit('open', 'yes')).toMatchObject({ error: { code: 'plan/state-invalid' } });
    expect(await edit('nowhere', 1)).toMatchObject({ error: { code: 'plan/state-invalid' } });
    value(await edit('open', true));
    expect(await state(run)).toEqual({ open: true });
    value(await host.resume(run));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await edit('note', 'late')).toMatchObject({ error: { code: 'run/ended' } });

    const held = planText(
      `<><Task id="held" run={({ signal }) => new Promise(resolve => signal.addEventListener('abort', () => resolve(0)))} />
       {ctx.state.get('open') ? <Task id="go" run={() => 1} onFinished={() => ctx.state.set('note', 'went')} /> : null}</>`,
      'z.object({ open: z.boolean().default(false), note: z.string().optional() })',
    );
    const driven = await start('held', held);
    const noted = new Promise<void>(resolve => {
      const stop = store.subscribe(driven, ({ events }) => {
        if (!events.some(({ event }) => event.type === 'state.changed' && event.key === 'note')) return;
        stop();
        resolve();
      });
    });
    const drivenEdit = { kind: 'edit', key: 'open', value: 1, reason: 'no' } as const;
    expect(await host.act(driven, drivenEdit, BY)).toMatchObject({ error: { code: 'plan/state-invalid' } });
    value(await host.act(driven, { ...drivenEdit, value: true, reason: 'yes' }, BY));
    await noted;
    value(await host.act(driven, { kind: 'stop', reason: 'enough' }, BY));
    await end(driven);
    const edits = (await store.events(driven, 0, 500)).flatMap(({ event }) =>
      event.type === 'state.edited' ? [event] : [],
    );
    expect(edits).toMatchObject([{ key: 'open', by: BY, reason: 'yes' }]);
  });

  it('[A130] that add, append or merge at the same time all count', async () => {
    const { host, start, end, state } = await open();
    const shape =
      'z.object({ n: z.number().default(0), list: z.array(z.number()).default([]), at: z.record(z.string(), z.number()).default({}) })';
    const waiting = await start('waits', planText('<Human id="ask" prompt="Go?" />', shape));
    expect(await end(waiting)).toMatchObject({ status: 'waiting' });
    const driven = await start(
      'held',
      planText(
        `<Task id="held" run={({ signal }) => new Promise(resolve => signal.addEventListener('abort', () => resolve(0)))} />`,
        shape,
      ),
    );
    for (const run of [waiting, driven]) {
      const edits = [...Array(8).keys()].flatMap(n => [
        host.act(run, { kind: 'edit', key: 'n', op: 'increment', value: 1, reason: 'a test' }, BY),
        host.act(run, { kind: 'edit', key: 'list', op: 'append', value: n, reason: 'a test' }, BY),
        host.act(run, { kind: 'edit', key: 'at', op: 'merge', value: { [`k${n}`]: n }, reason: 'a test' }, BY),
      ]);
      for (const edit of await Promise.all(edits)) value(edit);
      const { n, list, at } = (await state(run)) as { n: number; list: number[]; at: Record<string, number> };
      expect([n, list.toSorted(), Object.keys(at).length]).toEqual([8, [0, 1, 2, 3, 4, 5, 6, 7], 8]);
      const unfit = { kind: 'edit', key: 'list', op: 'increment', value: 1, reason: 'no' } as const;
      expect(await host.act(run, unfit, BY)).toMatchObject({
        error: { code: 'plan/state-invalid', message: expect.stringContaining('a list is there') },
      });
    }
    value(await host.act(driven, { kind: 'stop', reason: 'enough' }, BY));
    await end(driven);
  });

  it('[A42] retry a node by other rules, and reset a loop', async () => {
    const { host, store, start, end } = await open();
    const flaky = planText(
      `<Task id="flaky" retries={0} run={() => { throw Object.assign(new Error('no'), { code: 'ECONNRESET' }); }} />`,
    );
    const run = await start('flaky', flaky);
    expect(await end(run)).toMatchObject({ status: 'failed' });
    value(await host.act(run, { kind: 'retry', node: 'flaky', policy: { retries: 2, backoffMs: 1 } }, BY));
    expect(await end(run)).toMatchObject({ status: 'failed' });
    expect((await store.tasks(run)).map(({ retryCount, maxRetries }) => [retryCount, maxRetries])).toEqual([
      [0, 0],
      [2, 2],
    ]);
    const loop = planText(
      `<While id="loop" condition={() => ctx.state.get('n') < 9} maxIterations={2}>
         <Step><Task id="one" run={() => 1} onFinished={() => ctx.state.update('n', n => n + 1)} /></Step>
         <Step>{ctx.state.get('n') === 2 ? <Human id="ask" prompt="On?" /> : <Task id="two" run={() => 2} />}</Step>
       </While>`,
      'z.object({ n: z.number().default(0) })',
    );
    const looping = await start('loop', loop);
    expect(await end(looping)).toMatchObject({ status: 'waiting' });
    value(await host.act(looping, { kind: 'reset', node: 'loop' }, BY));
    expect(await store.run(looping)).toMatchObject({ status: 'waiting' });
    expect(await store.valueAt(looping, 'status', 'loop', 99)).toMatchObject({ loop: { total: 1, since: 1 } });
    expect(await host.act(looping, { kind: 'reset', node: 'loop' }, BY)).toMatchObject({
      error: { code: 'run/no-effect' },
    });
    value(await host.resume(looping));
    expect(await end(looping)).toMatchObject({ status: 'waiting' });
    expect(await host.act(looping, { kind: 'reset', node: 'nowhere' }, BY)).toMatchObject({
      error: { code: 'run/node-unknown' },
    });
    const acted = (await store.events(looping, 0, 500)).flatMap(({ event }) =>
      event.type === 'operator.acted' ? [event] : [],
    );
    expect(acted).toMatchObject([{ action: 'reset', node: 'loop', by: BY }]);
  });
});

const agentPlan = planText(
  `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." maxTurns={9}
     onFinished={said => ctx.state.set('said', said)} />`,
  'z.object({ said: z.any() })',
);
const write = (name: string, content: string) => ({ calls: [{ tool: 'write_file', input: { path: name, content } }] });

describe('tool calls of agents', () => {
  it('[A43] [A317] are listed, and one is undone by itself: dry, for real, once, and never over what others wrote since', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openWithAgents(folder, [
      write('a.txt', 'first'),
      write('b.txt', 'b'),
      write('a.txt', 'second'),
      { text: 'Done.' },
    ]);
    const run = await start('plan', agentPlan);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const file = (name: string) => path.join(folder, 'work', name);
    const calls = value(await host.checkpoints(run));
    expect(calls).toMatchObject(
      [1, 2, 3].map(() => ({
        tool: 'write_file',
        node: 'agent',
        outcome: 'succeeded',
        changesFiles: true,
        undone: false,
      })),
    );
    const [first, second, third] = calls.map(({ call }) => call) as [string, string, string];
    expect(await host.undo(run, first, {}, BY)).toMatchObject({
      error: {
        code: 'state/conflict',
        message: `call ${third} of write_file changed a.txt since; nothing was overwritten`,
      },
    });
    expect(readFileSync(file('a.txt'), 'utf8')).toBe('second');
    expect(value(await host.undo(run, third, { dryRun: true }, BY))).toMatchObject({
      paths: ['a.txt'],
      removed: [],
      lost: [],
      directory: expect.any(String),
    });
    expect(readFileSync(file('a.txt'), 'utf8')).toBe('second');
    expect(value(await host.undo(run, third, {}, BY)).paths).toEqual(['a.txt']);
    expect(readFileSync(file('a.txt'), 'utf8')).toBe('first');
    expect(value(await host.undo(run, third, {}, BY)).paths).toEqual([]);
    writeFileSync(file('b.txt'), 'mine');
    expect(await host.undo(run, second, {}, BY)).toMatchObject({ error: { code: 'state/conflict' } });
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('mine');
    expect(value(await host.undo(run, first, {}, BY))).toMatchObject({ paths: ['a.txt'], removed: ['a.txt'] });
    expect(() => readFileSync(file('a.txt'))).toThrow();
    const undone = (await store.events(run, 0, 500)).flatMap(({ event }) =>
      event.type === 'call.undone' ? [event] : [],
    );
    expect(undone).toMatchObject([
      { call: third, tool: 'write_file', node: 'agent', paths: ['a.txt'], by: BY },
      { call: first, paths: ['a.txt'] },
    ]);
    expect(value(await host.checkpoints(run)).map(one => one.undone)).toEqual([true, false, true]);
    expect(await isChained(store, run)).toBe(true);
    expect(await host.undo(run, 'nothing/1/1/0', {}, BY)).toMatchObject({
      error: { code: 'state/checkpoint-unknown', suggestion: expect.stringContaining(`signalbox checkpoints ${run}`) },
    });
  });

  it('[A43] what the rollback of a failed or a cut off call overwrote is listed and brought back, dry and for real', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openWithAgents(folder, [write('a.txt', 'first'), { text: 'Done.' }]);
    const run = await start('plan', agentPlan);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const [task] = await store.tasks(run);
    const data = path.join(folder, 'data');
    const work = path.join(folder, 'work');
    const tools = openAgentTools(data, thisMachine());
    const inPlace = defineTool({
      name: 'in_place',
      description: 'a command that runs in place and fails',
      input: z.null(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler() {
        writeFileSync(path.join(work, 'a.txt'), 'by a person');
        return fail('as told');
      },
    });
    const assignment = { run, task: task?.id, directory: work } as Assignment;
    const { runner } = value(await tools.open(assignment, [inPlace]));
    expect(value(await runner.execute({ id: 'failed', name: 'in_place', input: null }))).toMatchObject({
      rollback: { kind: 'restored', kept: { paths: ['a.txt'] } },
    });
    // Another call is cut off: its process dies after it wrote.
    const files = value(tools.files(work));
    const before = value(await files.snapshot());
    value(await files.begin({ id: 'cut off', tool: 'in_place', before, evaluation: String(task?.id) }));
    writeFileSync(path.join(work, 'b.txt'), 'by a person too');
    await files.alive('cut off');
    expect(await tools.recover()).toMatchObject([{ outcome: { kind: 'rolled-back', kept: { paths: ['b.txt'] } } }]);

    // Collection looks for names of blobs in these files.
    const named = [...textsOf(data, new Set())].join('');
    for (const { kept } of [...readCheckpoints(tools.checkpoints(run)), ...readKept(tools.checkpoints(run))]) {
      if (kept !== undefined) expect(named).toContain(kept.digest);
    }
    const listed = value(await host.checkpoints(run)).map(({ call, kept }) => [call, kept]);
    expect(listed.slice(1)).toEqual([
      ['failed', ['a.txt']],
      ['cut off', ['b.txt']],
    ]);
    expect(readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first');
    expect(value(await host.undo(run, 'failed', { kept: true, dryRun: true }, BY)).paths).toEqual(['a.txt']);
    expect(readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first');
    for (const call of ['failed', 'cut off']) value(await host.undo(run, call, { kept: true }, BY));
    expect(readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('by a person');
    expect(readFileSync(path.join(work, 'b.txt'), 'utf8')).toBe('by a person too');
    const brought = (await store.events(run, 0, 500)).flatMap(({ event }) =>
      event.type === 'call.undone' ? [[event.call, event.kept, event.paths]] : [],
    );
    expect(brought).toEqual([
      ['failed', true, ['a.txt']],
      ['cut off', true, ['b.txt']],
    ]);
    const unnamed = listed[0]?.[0] as string;
    expect(await host.undo(run, unnamed, { kept: true }, BY)).toMatchObject({
      error: { code: 'state/nothing-to-undo' },
    });
  });

  it('[A325] what each attempt of a call kept stays to be had when the call runs again, also after a crash', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openWithAgents(folder, [write('a.txt', 'first'), { text: 'Done.' }]);
    const run = await start('plan', agentPlan);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const [task] = await store.tasks(run);
    const work = path.join(folder, 'work');
    const tools = openAgentTools(path.join(folder, 'data'), thisMachine());
    let attempt = 0;
    const again = defineTool({
      name: 'again',
      description: 'a command that runs in place and fails, each time beside other work of a person',
      input: z.null(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler() {
        attempt += 1;
        writeFileSync(path.join(work, 'a.txt'), `by attempt ${attempt}`);
        if (attempt === 1) writeFileSync(path.join(work, 'mine'), 'by a person');
        return fail('as told');
      },
    });
    const assignment = { run, task: task?.id, directory: work } as Assignment;
    const { runner } = value(await tools.open(assignment, [again]));
    const call = { id: 'again', name: 'again', input: null };
    value(await runner.execute(call));
    // The second attempt is cut off, and undone by the next start; the third fails.
    const files = value(tools.files(work));
    const before = value(await files.snapshot());
    value(await files.begin({ id: 'again', tool: 'again', before, evaluation: String(task?.id) }));
    writeFileSync(path.join(work, 'second'), 'by a person, later');
    await files.alive('again');
    expect(await tools.recover()).toMatchObject([{ outcome: { kind: 'rolled-back', kept: { paths: ['second'] } } }]);
    value(await runner.execute(call));

    const listed = value(await host.checkpoints(run)).find(one => one.call === 'again');
    expect(listed).toMatchObject({
      kept: ['a.txt', 'mine', 'second'],
      attempts: [
        { attempt: 1, paths: ['a.txt', 'mine'] },
        { attempt: 2, paths: ['second'] },
        { attempt: 3, paths: ['a.txt'] },
      ],
    });
    const one = value(await host.undo(run, 'again', { kept: true, attempt: 1, dryRun: true }, BY));
    expect(one.paths).toEqual(['a.txt', 'mine']);
    expect(await host.undo(run, 'again', { kept: true, attempt: 4 }, BY)).toMatchObject({
      error: { code: 'state/checkpoint-unknown' },
    });
    const all = value(await host.undo(run, 'again', { kept: true }, BY));
    expect(all.paths.toSorted()).toEqual(['a.txt', 'mine', 'second']);
    const read = (name: string) => readFileSync(path.join(work, name), 'utf8');
    expect(['a.txt', 'mine', 'second'].map(read)).toEqual(['by attempt 2', 'by a person', 'by a person, later']);
    // An older version of a path whose newer one is in place comes as a copy.
    const older = value(await host.undo(run, 'again', { kept: true, attempt: 1, copies: true }, BY));
    expect(older).toMatchObject({ paths: [], conflicts: ['a.txt'], copies: ['a.txt.kept'] });
    expect([read('a.txt'), read('a.txt.kept')]).toEqual(['by attempt 2', 'by attempt 1']);
  });

  it.each(['a link', 'another directory'])(
    '[A326] are not undone in %s that is at the path of their directory by then',
    async what => {
      const folder = temporaryFolder();
      const { host, store, start, end } = await openWithAgents(folder, [write('a.txt', 'first'), { text: 'Done.' }]);
      const run = await start('plan', agentPlan);
      expect(await end(run)).toMatchObject({ status: 'completed' });
      const [call] = value(await host.checkpoints(run)).map(one => one.call);
      if (call === undefined) throw new Error('no call');
      const [work, away, copy] = ['work', 'away', 'copy'].map(name => path.join(folder, name)) as [
        string,
        string,
        string,
      ];
      renameSync(work, away);
      cpSync(away, what === 'a link' ? copy : work, { recursive: true });
      if (what === 'a link') symlinkSync(copy, work);
      const replaced = { error: { code: 'state/root-replaced' } };
      expect(await host.undo(run, call, {}, BY)).toMatchObject(replaced);
      expect(await host.rollback(run, { call, paused: true }, BY)).toMatchObject(replaced);
      expect(readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first');
      expect(await store.run(run)).toMatchObject({ status: 'completed' });
      // The task's tools are bound to the directory that it began in.
      const tools = openAgentTools(path.join(folder, 'data'), thisMachine());
      const [task] = await store.tasks(run);
      const { runner } = value(await tools.open({ run, task: task?.id, directory: work } as Assignment));
      const input = { path: 'b.txt', content: 'x' };
      expect(value(await runner.execute({ id: 'late', name: 'write_file', input }))).toMatchObject({
        status: 'failed',
      });
      expect(existsSync(path.join(work, 'b.txt'))).toBe(false);
      rmSync(work, { recursive: true });
      renameSync(away, work);
      expect(value(await host.undo(run, call, {}, BY)).paths).toEqual(['a.txt']);
      expect(existsSync(path.join(work, 'a.txt'))).toBe(false);
    },
  );

  it('[A43] are undone while their run waits, and the run goes on', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openWithAgents(folder, [
      write('a.txt', 'first'),
      write('b.txt', 'second'),
      { text: 'Done.' },
    ]);
    const run = await start('plan', agentPlan.replace('cwd="work"', 'cwd="work" permissions="gated"'));
    const approve = async () => {
      expect(await end(run)).toMatchObject({ status: 'waiting' });
      const [asked] = await store.decisions({ run, status: ['open'] });
      const resolution = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
      value(await host.answer(asked?.decision.id as never, { resolution }, BY));
      value(await host.resume(run));
    };
    await approve();
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const [first] = value(await host.checkpoints(run));
    expect(value(await host.undo(run, first?.call ?? '', {}, BY)).paths).toEqual(['a.txt']);
    await approve();
    expect(await end(run)).toMatchObject({ status: 'completed', output: { said: 'Done.' } });
    expect(() => readFileSync(path.join(folder, 'work', 'a.txt'))).toThrow();
    expect(readFileSync(path.join(folder, 'work', 'b.txt'), 'utf8')).toBe('second');
  });

  it('[A44] are a moment to fork from: the agent goes on from what it knew then, in the files of then', async () => {
    const folder = temporaryFolder();
    const { host, server, store, start, end, state } = await openWithAgents(folder, ({ call }) =>
      call <= 2 ? write('a.txt', `version ${call}`) : { text: `Done after ${call} calls.` },
    );
    const run = await start('plan', agentPlan);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const before = await bytesOf(store, run);
    const [, second] = value(await host.checkpoints(run)).map(({ call }) => call) as [string, string];
    const asked = server.requests.length;

    const directory = path.join(folder, 'elsewhere');
    const at = { kind: 'call', call: second } as const;
    const paused = value(await host.fork(run, { at, directory, anyFile: true, paused: true }, BY));
    expect(readFileSync(path.join(directory, 'work', 'a.txt'), 'utf8')).toBe('version 1');
    expect(await store.run(paused)).toMatchObject({ workingDirectory: directory });
    // The call is done again, in the fork's own files; then the model is asked, and not before.
    value(await host.resume(paused));
    expect(await end(paused)).toMatchObject({ status: 'completed' });
    expect(server.requests.length).toBe(asked + 1);
    expect(readFileSync(path.join(directory, 'work', 'a.txt'), 'utf8')).toBe('version 2');
    expect(readFileSync(path.join(folder, 'work', 'a.txt'), 'utf8')).toBe('version 2');
    expect(await state(paused)).toEqual({ said: `Done after ${asked + 1} calls.` });
    expect(await bytesOf(store, run)).toBe(before);
    const [, forked] = await store.events(paused, 0, 2);
    expect(forked?.event).toMatchObject({ call: second, node: 'agent' });

    const after = value(await host.fork(run, { at: { ...at, after: true } }, BY));
    expect(await end(after)).toMatchObject({ status: 'completed' });
    expect(server.requests.length).toBe(asked + 2);
    expect(await host.fork(run, { at: { kind: 'call', call: 'x/1/1/0' } }, BY)).toMatchObject({
      error: { code: 'state/checkpoint-unknown' },
    });
    expect(await host.fork(run, { at, directory, anyFile: true }, BY)).toMatchObject({
      error: { code: 'state/fork-failed' },
    });
  });

  it('[A45] leave their files to forks of runs with a workspace, each in a workspace of its own', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openWithAgents(folder, ({ call }) =>
      call % 2 === 1 ? write('a.txt', `version ${call}`) : { text: 'Done.' },
    );
    const project = path.join(folder, 'project');
    mkdirSync(project);
    writeFileSync(path.join(project, 'a.txt'), 'version 0');
    const agent = (id: string) =>
      `<Step><Agent id="${id}" model="anthropic:claude-test" prompt="Do ${id}." maxTurns={9} /></Step>`;
    const plan = planText(`<Phase name="all">${agent('one')}${agent('two')}</Phase>`).replace(
      "name: 'test'",
      "name: 'test', workspace: true",
    );
    const run = await start('plan', plan, { directory: project });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const own = (await store.run(run))?.workspace?.path ?? '';
    const fileOf = async (id: RunId) =>
      readFileSync(path.join((await store.run(id))?.workspace?.path ?? '', 'a.txt'), 'utf8');
    expect(await fileOf(run)).toBe('version 3');
    const at = async (frame: number) => value(await host.fork(run, { at: { kind: 'frame', frame }, paused: true }, BY));
    const [first, second] = [await at(0), await at(1)];
    expect([await fileOf(first), await fileOf(second), await fileOf(run)]).toEqual([
      'version 0',
      'version 1',
      'version 3',
    ]);
    const places = await Promise.all([first, second].map(async id => (await store.run(id))?.workspace?.path));
    expect(new Set([own, ...places]).size).toBe(3);
    value(await host.resume(second));
    expect(await end(second)).toMatchObject({ status: 'completed' });
    expect(await fileOf(second)).toBe('version 5');
    expect(readFileSync(path.join(project, 'a.txt'), 'utf8')).toBe('version 0');

    const [call] = value(await host.checkpoints(run)).filter(one => one.node === 'two');
    const before = value(await host.fork(run, { at: { kind: 'call', call: call?.call ?? '' }, paused: true }, BY));
    expect(await fileOf(before)).toBe('version 1');
  });
});
