import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SessionId } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import {
  findSession,
  listSessions,
  listTokenKeys,
  openGuidedDesk,
  rotateTokenKeys,
  showSession,
} from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import {
  dataDirectory,
  errorOf,
  filesUnder,
  value,
  walk,
  walkUntilBlocked,
  writeWorkflow,
} from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const features = { workflowId: 'wr.feature-development', context: { slices: ['one'] } } as const;

describe('looking at guided sessions', () => {
  it('[G31] lists every session with its runs, their positions and questions, and shows one as a graph', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const done = (await walk(tools, value(await tools.start({ workflowId: 'wr.code-review' })))).last;
    const blocked = await walkUntilBlocked(tools, value(await tools.start(features)));
    const sessions = value(listSessions({ dataDirectory: directory, ports }));
    const of = (id: SessionId) => sessions.find(({ sessionId }) => sessionId === id);
    expect(sessions.length).toBe(2);
    expect(of(done.sessionId)).toMatchObject({
      health: 'healthy',
      waiting: 0,
      isKept: false,
      runs: [{ runId: done.runId, workflowId: 'wr.code-review', status: 'complete', pendingStep: null }],
    });
    expect(of(blocked.sessionId)).toMatchObject({
      waiting: 1,
      recap: blocked.pending?.stepInstanceKey,
      runs: [{ status: 'blocked', preferredTip: blocked.nodeId, pendingStep: { stepId: blocked.pending?.stepId } }],
    });

    const desk = openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) });
    const [waits] = value(desk.waiting());
    const shown = value(await showSession({ dataDirectory: directory, ports, directories: [] }, blocked.sessionId));
    const [run] = shown.runs;
    expect(shown).toMatchObject({ health: 'healthy', isSalvaged: false, events: of(blocked.sessionId)?.events });
    expect(run).toMatchObject({ source: { kind: 'as_pinned' }, status: 'blocked', preferredTip: blocked.nodeId });
    expect(run?.gaps).toMatchObject([{ gapId: waits?.gap.gapId, shown: waits?.shown }]);
    expect(run?.nodes.at(-1)).toMatchObject({ step: { key: blocked.pending?.stepInstanceKey }, isLeaf: true });
    expect(run?.nodes.slice(1).every(({ notes }) => notes !== undefined)).toBe(true);

    value(await desk.answer(blocked.sessionId, waits?.gap.gapId as never, { kind: 'approved' }));
    expect(value(listSessions({ dataDirectory: directory, ports })).map(({ waiting }) => waiting)).toEqual([0, 0]);
    expect(value(findSession({ dataDirectory: directory, ports }, done.sessionId.slice(0, 36)))).toBe(done.sessionId);
    expect(errorOf(findSession({ dataDirectory: directory, ports }, '')).code).toBe('session/unknown');
    expect(errorOf(findSession({ dataDirectory: directory, ports }, 'zz'))).toMatchObject({
      code: 'session/unknown',
      details: { matches: 0 },
    });
    expect(errorOf(findSession({ dataDirectory: directory, ports }, '0'))).toMatchObject({
      message: '2 sessions begin or end with 0.',
      details: { matches: 2 },
    });
  });

  it('[G31] reports a workflow source that no longer matches a run’s pin', async () => {
    const directory = dataDirectory();
    const flows = dataDirectory();
    const directories = [{ kind: 'project', directory: flows }] as const;
    const flow = (prompt: string) => ({
      id: 'project.short',
      name: 'Short',
      description: 'One step.',
      version: '1.0.0',
      steps: [{ id: 'only', title: 'Only', prompt }],
    });
    writeWorkflow(flows, 'short.json', flow('Old.'));
    const tools = openTools(directory, { directories });
    const start = value(await tools.start({ workflowId: 'project.short' }));
    const source = async () =>
      value(await showSession({ dataDirectory: directory, ports, directories }, start.sessionId)).runs[0]?.source;
    expect(await source()).toEqual({ kind: 'as_pinned' });
    expect(value(await tools.resume({})).warnings).toEqual([]);
    writeWorkflow(flows, 'short.json', flow('New.'));
    const now = value(await tools.inspect({ workflowId: 'project.short' })).workflow.workflowHash;
    expect(await source()).toEqual({ kind: 'changed', workflowHash: now });
    expect(value(await tools.resume({})).warnings).toMatchObject([{ code: 'pinned_drift' }]);
    rmSync(path.join(flows, 'short.json'));
    expect(await source()).toEqual({ kind: 'gone' });
  });

  it('[G32] shows the valid part of a damaged session, says so, and reports a missing one', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    value(await tools.continue(filledIn(start)));
    const events = path.join(directory, 'sessions', start.sessionId, 'events');
    const [first, second] = readdirSync(events).sort();
    appendFileSync(path.join(events, second ?? ''), ' ');
    const options = { dataDirectory: directory, ports, directories: [] };
    const shown = value(await showSession(options, start.sessionId));
    expect(shown).toMatchObject({
      health: 'corrupt_tail',
      isSalvaged: true,
      defect: { code: 'segment_size_mismatch' },
      runs: [{ preferredTip: start.nodeId }],
    });
    expect(value(listSessions(options))).toMatchObject([{ health: 'corrupt_tail', events: shown.events }]);
    appendFileSync(path.join(events, first ?? ''), ' ');
    expect(value(await showSession(options, start.sessionId))).toMatchObject({ health: 'corrupt_head', runs: [] });
    expect(errorOf(await showSession(options, start.runId as never)).code).toBe('session/unknown');
    expect(value(listSessions({ dataDirectory: dataDirectory(), ports }))).toEqual([]);

    // What only has the name of a session is none.
    const others = ['a', 'b'].map(end => path.join(directory, 'sessions', `${start.sessionId.slice(0, -4)}000${end}`));
    writeFileSync(others[0] ?? '', 'x');
    symlinkSync(tmpdir(), others[1] ?? '');
    expect(value(listSessions(options)).map(({ sessionId }) => sessionId)).toEqual([start.sessionId]);
    expect(value(openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) }).waiting())).toEqual([]);
  });

  it('[G33] stores summaries beside the journals: deleted, damaged or older ones change no answer', async () => {
    const directory = dataDirectory();
    const options = { dataDirectory: directory, ports };
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    const list = () => value(listSessions(options));
    const file = path.join(directory, 'sessions', start.sessionId, 'cache/summary.json');
    expect(existsSync(file)).toBe(false);
    const first = list();
    const kept = readFileSync(file, 'utf8');
    expect(list()).toEqual(first);

    // It is used as long as the manifest is what it was made of.
    writeFileSync(file, kept.replace('"waiting":0', '"waiting":7'));
    expect(list()[0]?.waiting).toBe(7);
    for (const bad of ['', '{', kept.replace('"v":1', '"v":2'), kept.replace('"events":', '"evnts":')]) {
      writeFileSync(file, bad);
      expect(list()).toEqual(first);
      expect(readFileSync(file, 'utf8')).toBe(kept);
    }
    rmSync(path.dirname(file), { recursive: true });
    expect(list()).toEqual(first);

    value(await tools.continue(filledIn(start)));
    const [after] = list();
    expect(after?.events).toBeGreaterThan(first[0]?.events ?? 0);
    expect(readFileSync(file, 'utf8')).not.toBe(kept);
    writeFileSync(file, kept);
    expect(list()).toEqual([after]);
  });
});

describe('token keys', () => {
  it('[G34] are rotated by hand: tokens of the previous key stay valid until the next rotation, and are refused afterwards', async () => {
    const directory = dataDirectory();
    const options = { dataDirectory: directory, ports, rng: seededRng(7) };
    expect(value(listTokenKeys(options))).toEqual([]);
    expect(filesUnder(directory).size).toBe(0);
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    const [made] = value(listTokenKeys(options));
    const rotated = value(await rotateTokenKeys(options));
    expect(rotated).toEqual([
      { role: 'current', name: expect.stringMatching(/^[0-9a-f]{16}$/) },
      { role: 'previous', name: made?.name },
    ]);
    expect(value(listTokenKeys(options))).toEqual(rotated);

    const next = value(await tools.continue(filledIn(start)));
    expect(next.stateToken.split('.')[3]).not.toBe(start.stateToken.split('.')[3]);
    value(await rotateTokenKeys(options));
    for (const refused of [
      await tools.continue({ stateToken: start.stateToken }),
      await tools.checkpoint({ checkpointToken: start.checkpointToken ?? '' }),
    ]) {
      expect(errorOf<unknown>(refused)).toMatchObject({ code: 'TOKEN_BAD_SIGNATURE' });
      expect(errorOf<unknown>(refused).message).toContain('rotated out');
    }
    expect((await walk(tools, next)).last.isComplete).toBe(true);
    const keys = readFileSync(path.join(directory, 'keys/keyring.json'), 'utf8');
    for (const { name } of value(listTokenKeys(options))) expect(keys).not.toContain(name);
  });
});
