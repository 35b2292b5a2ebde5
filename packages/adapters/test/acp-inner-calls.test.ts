import type { InnerCalls, InnerEnd } from '@signalbox/state';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openAcpLife } from './acp-life.ts';
import { createMemoryTask, entriesOf } from './memory-session.ts';

/** Notes what is told apart; ends answer as the test says. */
function notingInner(ends: readonly InnerEnd[] = [], leftOut: readonly string[] = []) {
  const log: string[] = [];
  const answers = [...ends];
  const inner: InnerCalls = {
    async begin(key, { running = false } = {}) {
      // The agent must not go on meanwhile.
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
      log.push(`begin ${key}${running ? ' running' : ''}`);
    },
    async end(key, { id, tool, outcome, summary }) {
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
      log.push(`end ${key} ${tool} ${outcome} ${summary} ${id.split('/').at(-1)}`);
      return answers.shift() ?? { kind: 'kept' };
    },
    async abort(key) {
      log.push(`abort ${key}`);
    },
    leftOut: () => leftOut,
  };
  return { log, inner };
}

const ask = (title: string, ...allowed: readonly EchoStep[]): EchoStep => ({
  ...{ do: 'ask', id: title, kind: 'edit', title, name: 'Write', input: { title }, allowed },
});
const done: EchoStep = { do: 'say', text: 'Done.' };
const skip = { permissions: 'skip' } as const;

describe('calls of an agent on a layer', () => {
  it('[B130] are told apart from their permission to their end, reads are not', async () => {
    const { log, inner } = notingInner();
    const life = openAcpLife({ isOnLayer: true, inner });
    const read: EchoStep = { do: 'tool', id: 'r', kind: 'read', title: 'Read', statuses: ['in_progress', 'completed'] };
    const outcome = await life.run(createMemoryTask().session(), [ask('one'), read, ask('two'), done], skip);
    expect(outcome).toEqual({ kind: 'done', output: 'Done.' });
    expect(log).toEqual(['begin 1', 'end 1 Write succeeded one 1', 'begin 2', 'end 2 Write succeeded two 1']);
  });

  it('[B130] are answered once they are told apart', async () => {
    const { log, inner } = notingInner();
    const life = openAcpLife({ isOnLayer: true, inner });
    const task = createMemoryTask();
    const session = task.session();
    const stream: typeof session.stream = (kind, payload) => {
      if (kind === 'token') log.push(String(payload));
      session.stream(kind, payload);
    };
    await life.run({ ...session, stream }, [ask('one', { do: 'say', text: 'it works' }), done], skip);
    expect(log.slice(0, 2)).toEqual(['begin 1', 'it works']);
  });

  it('[B130] a call that is reported while it runs, or only at its end, may have begun before', async () => {
    const { log, inner } = notingInner();
    const life = openAcpLife({ isOnLayer: true, inner });
    const edit = (id: string, ...statuses: readonly string[]): EchoStep => ({
      ...{ do: 'tool', id, kind: 'edit', title: id, statuses },
    });
    await life.run(
      createMemoryTask().session(),
      [edit('running', 'in_progress', 'failed'), edit('late', 'completed'), done],
      skip,
    );
    expect(log).toEqual([
      'begin 1 running',
      'end 1 edit failed running u1',
      'begin 2 running',
      'end 2 edit succeeded late u1',
    ]);
  });

  it('[B130] a write through the client is one, unless it is part of another', async () => {
    const { log, inner } = notingInner();
    const life = openAcpLife({ isOnLayer: true, inner });
    const write: EchoStep = { do: 'clientWrite', path: `${life.root}/a.txt`, text: 'a' };
    await life.run(createMemoryTask().session(), [write, ask('one', write), done], skip);
    expect(log).toEqual([
      'begin 1',
      `end 1 fs/write_text_file succeeded Write ${life.root}/a.txt 1`,
      'begin 2',
      'end 2 Write succeeded one 1',
    ]);
  });

  it('[B131] that cannot be undone alone say why', async () => {
    const { log, inner } = notingInner(
      [
        { kind: 'mixed', with: ['1'] },
        { kind: 'mixed', with: ['2'] },
        { kind: 'late' },
        { kind: 'unknown', reason: 'EIO' },
      ],
      ['node_modules'],
    );
    const life = openAcpLife({ isOnLayer: true, inner });
    const task = createMemoryTask();
    await life.run(task.session(), [ask('outer', ask('inner')), ask('late'), ask('odd'), ask('fine'), done], skip);
    expect(log).toHaveLength(10);
    const ends = entriesOf<{ tool: string; notAlone?: string }>(task, 'tool_ended').filter(
      ({ tool }) => tool === 'Write',
    );
    expect(ends.map(({ notAlone }) => notAlone)).toEqual([
      'it ran at the same time as "outer"',
      'it ran at the same time as "inner"',
      'it had changed files before the agent reported it',
      'its changes could not be told apart: EIO',
      undefined,
    ]);
    const told = task.streamed.flatMap(({ kind, payload }) =>
      kind === 'tool_end' ? [(payload as { notAlone?: string }).notAlone] : [],
    );
    expect(told.slice(0, 5)).toEqual(ends.map(({ notAlone }) => notAlone));
    expect(entriesOf(task, 'note').map(({ text }) => text)).toEqual([
      'Too much changed in node_modules to tell calls apart there. It can be undone only with the whole turn.',
    ]);
  });

  it('[B131] a call whose end is never reported belongs to the turn', async () => {
    const { log, inner } = notingInner();
    const life = openAcpLife({ isOnLayer: true, inner });
    const task = createMemoryTask();
    const open: EchoStep = { do: 'tool', id: 'open', kind: 'edit', title: 'open', statuses: ['in_progress'] };
    await life.run(task.session(), [ask('one', open), done], skip);
    expect(log).toEqual(['begin 1', 'begin 2 running', 'end 1 Write succeeded one 1', 'abort 2']);
  });
});
