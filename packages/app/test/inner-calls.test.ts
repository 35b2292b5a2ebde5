import * as fs from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import { detectSandbox } from '@signalbox/state';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { thisMachine } from '../src/machine.ts';
import { createRetentionDesk } from '../src/retention/retention-desk.ts';
import { echoPlan, openEchoHome } from './support/open-echo-home.ts';

const sandbox = await detectSandbox();
const BY = 'ada';

const value = <T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: object },
): T => {
  if (!result.ok) throw new Bug(JSON.stringify(result.error));
  return result.value;
};

/** A call that the agent asks about, and what it does then. */
const call = (title: string, ...allowed: readonly EchoStep[]): EchoStep => ({
  ...{ do: 'ask', id: title, kind: 'edit', title, name: 'Write', input: { title }, allowed },
});
/** Something that the agent does outside of every call that may change files; when it is done, the calls before have ended for us too. */
const outside = (...allowed: readonly EchoStep[]): EchoStep => ({
  ...{ do: 'ask', id: 'look', kind: 'read', title: 'look', name: 'Read', input: {}, allowed },
});
const append = (file: string, text: string): EchoStep => ({ do: 'append', file, text });

/** An agent that has done these steps, with its changes applied. */
async function openTurn(steps: readonly EchoStep[], props = '') {
  const home = await openEchoHome();
  const read = (file: string) => {
    const full = path.join(home.work, file);
    return fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : undefined;
  };
  fs.writeFileSync(path.join(home.work, 'a.txt'), 'first\n');
  const run = await home.start('plan', echoPlan([...steps, { do: 'say', text: 'Done.' }], props));
  await home.end(run);
  const calls = async () => value(await home.host.checkpoints(run));
  const named = async (tool: string) => (await calls()).filter(one => one.tool === tool).map(one => one.call);
  return { ...home, run, read, calls, named };
}

const APPLY = {
  resolutionType: 'choose_option',
  rationale: 'fine',
  actionKind: 'review',
  chosenOptionId: 'apply-all',
} as const;

/** What an agent's transcript says about the end of its calls. */
async function endsOf(store: Awaited<ReturnType<typeof openEchoHome>>['store'], run: RunId) {
  const [task] = await store.tasks(run);
  const kept = await store.stream(run, task?.id as never, 0, 500);
  return kept.flatMap(({ kind, payload }) => {
    const { kind: what, call: id, tool, notAlone } = payload as Record<string, unknown>;
    return kind === 'message' && what === 'tool_ended' && tool === 'Write' ? [{ call: String(id), notAlone }] : [];
  });
}

/** Collects as if everything were old; whether what only one call knew is still there. */
async function collected(data: string, store: Awaited<ReturnType<typeof openEchoHome>>['store']): Promise<boolean> {
  const blobs = () =>
    fs
      .readdirSync(path.join(data, 'blobs'), { recursive: true, encoding: 'utf8' })
      .map(name => path.join(data, 'blobs', name))
      .filter(file => fs.statSync(file).isFile());
  for (const file of blobs()) fs.utimesSync(file, 1, 1);
  const desk = createRetentionDesk({ store, dataDirectory: data, machine: thisMachine(), driven: () => [] });
  value(await desk.collect({ dryRun: false, by: BY }));
  return blobs().some(file => fs.readFileSync(file, 'utf8') === 'only in between\n');
}

describe.skipIf(!sandbox.ok)('the calls of an agent in its turn', () => {
  it('[A830] [A834] are listed with the turn, and one is undone by itself while the others stay', async () => {
    const { host, store, run, read, calls, named } = await openTurn([
      call('one', append('a.txt', 'one')),
      call('two', append('b.txt', 'two')),
    ]);
    const [turn = ''] = await named('agent_turn');
    const [one = '', two = ''] = await named('Write');
    const facts = {
      tool: 'Write',
      outcome: 'succeeded',
      changesFiles: true,
      undone: false,
      within: turn,
      node: 'agent',
    };
    expect(await calls()).toMatchObject([
      { ...facts, call: one, summary: 'one' },
      { ...facts, call: two, summary: 'two' },
      { tool: 'agent_turn', changesFiles: true, undone: false },
    ]);
    expect((await calls())[2]).not.toHaveProperty('within');
    const planned = value(await host.undo(run, one, { dryRun: true, diff: true }, BY));
    expect(planned).toMatchObject({ paths: ['a.txt'], diff: expect.stringContaining('@@ -1 +1,2 @@\n first\n+one\n') });
    expect(planned.diff).not.toContain('b.txt');
    expect(value(await host.undo(run, one, {}, BY)).paths).toEqual(['a.txt']);
    expect([read('a.txt'), read('b.txt')]).toEqual(['first\n', 'two\n']);
    expect((await calls()).map(({ undone }) => undone)).toEqual([true, false, false]);
    const events = (await store.events(run, 0, 500)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'call.undone')).toMatchObject([{ call: one, tool: 'Write', by: BY }]);

    // The rest of the turn can still be undone, and then there is nothing left of its calls.
    expect(value(await host.undo(run, turn, {}, BY)).paths).toEqual(['b.txt']);
    expect([read('a.txt'), read('b.txt')]).toEqual(['first\n', undefined]);
    expect(await host.undo(run, two, {}, BY)).toMatchObject({
      error: { code: 'state/nothing-to-undo', message: expect.stringContaining('was undone as a whole') },
    });
    expect((await calls()).map(({ undone }) => undone)).toEqual([true, true, true]);
  });

  it('[A830] are not undone over a later one, which is named, or over what somebody wrote since', async () => {
    const { host, work, run, read, named } = await openTurn([
      call('one', append('a.txt', 'one')),
      call('two', append('a.txt', 'two')),
    ]);
    const [one = '', two = ''] = await named('Write');
    const refused = await host.undo(run, one, {}, BY);
    expect(refused).toMatchObject({
      error: { code: 'state/conflict', message: expect.stringContaining(`call ${two} of Write changed a.txt`) },
    });
    expect(read('a.txt')).toBe('first\none\ntwo\n');
    value(await host.undo(run, two, {}, BY));
    fs.appendFileSync(path.join(work, 'a.txt'), 'mine\n');
    expect(await host.undo(run, one, {}, BY)).toMatchObject({ error: { code: 'state/conflict' } });
    expect(read('a.txt')).toBe('first\none\nmine\n');
  });

  it('[A831] that overlap, or changed nothing, cannot be undone alone: the transcript and the refusal say why', async () => {
    const { host, store, run, read, named } = await openTurn([
      call('outer', append('a.txt', 'outer'), call('inner', append('b.txt', 'inner'))),
      call('idle'),
      call('alone', append('c.txt', 'alone')),
    ]);
    expect(await named('Write')).toHaveLength(1);
    const ends = await endsOf(store, run);
    expect(ends.map(({ notAlone }) => notAlone)).toEqual([
      'it ran at the same time as "outer"',
      'it ran at the same time as "inner"',
      undefined,
      undefined,
    ]);
    const [turn = ''] = await named('agent_turn');
    for (const [index, why] of [
      [0, 'it ran at the same time as "outer"'],
      [2, 'it changed no files'],
    ] as const) {
      const id = ends[index]?.call ?? '';
      expect(await host.undo(run, id, {}, BY)).toMatchObject({
        error: {
          code: 'state/nothing-to-undo',
          message: `Call ${id} has nothing to undo: ${why}.`,
          suggestion: `Undo its whole turn with: signalbox undo ${run} ${turn}`,
        },
      });
    }
    value(await host.undo(run, ends[3]?.call ?? '', {}, BY));
    expect([read('b.txt'), read('c.txt')]).toEqual(['inner\n', undefined]);
    value(await host.undo(run, turn, {}, BY));
    expect([read('a.txt'), read('b.txt')]).toEqual(['first\n', undefined]);
  });

  it('[A831] of a turn that failed or is held cannot be undone', async () => {
    const failed = await openTurn([call('one', append('a.txt', 'one')), { do: 'exit', code: 1 }], 'retries={0}');
    const [lost] = await endsOf(failed.store, failed.run);
    expect(await failed.host.undo(failed.run, lost?.call ?? '', {}, BY)).toMatchObject({
      error: { code: 'state/nothing-to-undo', message: expect.stringContaining('nothing of its turn was applied') },
    });
    const held = await openTurn([call('one', append('a.txt', 'one'))], 'apply="ask"');
    const [waits] = await endsOf(held.store, held.run);
    expect(await held.host.undo(held.run, waits?.call ?? '', {}, BY)).toMatchObject({
      error: { code: 'state/nothing-to-undo', message: expect.stringContaining('held until a person decides') },
    });
    const [asked] = await held.store.decisions({ run: held.run, status: ['open'] });
    value(await held.host.answer(asked?.decision.id as never, { resolution: APPLY }, BY));
    await expect.poll(() => held.named('Write')).toHaveLength(1);
    value(await held.host.undo(held.run, waits?.call ?? '', {}, BY));
    expect(held.read('a.txt')).toBe('first\n');
  });

  it('[A833] what the calls of a held turn need is not collected, and is when it was dropped', async () => {
    const { host, data, store, run, read, named } = await openTurn(
      [call('one', append('b.txt', 'only in between')), call('two', { do: 'write', file: 'b.txt', text: 'last' })],
      'apply="ask"',
    );
    expect(await collected(data, store)).toBe(true);
    const [asked] = await store.decisions({ run, status: ['open'] });
    value(await host.answer(asked?.decision.id as never, { resolution: APPLY }, BY));
    await expect.poll(() => named('Write')).toHaveLength(2);
    expect(await collected(data, store)).toBe(true);
    value(await host.undo(run, (await named('Write'))[1] ?? '', {}, BY));
    expect(read('b.txt')).toBe('only in between\n');

    const dropped = await openTurn([call('one', append('b.txt', 'only in between'))], 'apply="never"');
    expect(await collected(dropped.data, dropped.store)).toBe(false);
  });

  it('[A832] the files before and after one are those of a fork', async () => {
    const { host, folder, run, named } = await openTurn([
      call('one', append('a.txt', 'one')),
      outside(append('between.txt', 'nobody')),
      call('two', append('a.txt', 'two'), append('b.txt', 'two')),
    ]);
    const [one = '', two = ''] = await named('Write');
    for (const [id, after, expected] of [
      [one, false, { 'a.txt': 'first\n' }],
      [one, true, { 'a.txt': 'first\none\n' }],
      [two, false, { 'a.txt': 'first\none\n', 'between.txt': 'nobody\n' }],
      [two, true, { 'a.txt': 'first\none\ntwo\n', 'b.txt': 'two\n', 'between.txt': 'nobody\n' }],
    ] as const) {
      const directory = fs.mkdtempSync(path.join(folder, 'fork-'));
      value(
        await host.fork(run, { at: { kind: 'call', call: id, after }, directory, paused: true, anyFile: true }, BY),
      );
      const files = fs.readdirSync(path.join(directory, 'work')).toSorted();
      const found = files.map(name => [name, fs.readFileSync(path.join(directory, 'work', name), 'utf8')]);
      expect([id, after, Object.fromEntries(found)]).toEqual([id, after, expected]);
    }
  });

  it('[A832] the agent of a fork is told how far it came, and that its changes are in place', async () => {
    const { host, folder, run, named, store, end, state } = await openTurn([
      call('one', append('a.txt', 'one')),
      { do: 'repeat' },
    ]);
    const [one = ''] = await named('Write');
    const directory = path.join(folder, 'fork');
    const fork = value(
      await host.fork(run, { at: { kind: 'call', call: one, after: true }, directory, anyFile: true }, BY),
    );
    expect(await end(fork)).toMatchObject({ status: 'completed' });
    const { said } = (await state(fork)) as { said: string };
    expect(said).toContain('What you had changed until then is in the directory: do not do it again.');
    expect(said).toContain('You called Write with {"title":"one"}\nThe call of Write succeeded');
    // It is scripted, and does it again all the same: that is another call.
    expect(fs.readFileSync(path.join(directory, 'work', 'a.txt'), 'utf8')).toBe('first\none\none\n');
    expect((await endsOf(store, fork)).map(({ call: id }) => id.split('/').at(-1))).toEqual(['1', '2']);
    const again = value(await host.checkpoints(fork)).filter(({ tool }) => tool === 'Write');
    expect(again.map(({ call: id }) => id.split('/').at(-1))).toEqual(['2']);
  });

  it('[A832] a rollback to one undoes the rest of its turn', async () => {
    const { host, run, read, named } = await openTurn([
      call('one', append('a.txt', 'one')),
      outside(append('between.txt', 'nobody')),
      call('two', append('a.txt', 'two'), append('b.txt', 'two')),
    ]);
    const [one = '', two = ''] = await named('Write');
    const planned = value(await host.rollback(run, { call: one, after: true, dryRun: true }, BY));
    expect(planned).toMatchObject({
      calls: [{ call: two, tool: 'Write' }],
      removed: ['work/between.txt', 'work/b.txt'],
    });
    value(await host.rollback(run, { call: one, after: true, paused: true }, BY));
    expect([read('a.txt'), read('b.txt'), read('between.txt')]).toEqual(['first\none\n', undefined, undefined]);
  });
});
