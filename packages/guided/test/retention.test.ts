import { appendFileSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { sqliteLocks } from '@signalbox/journal';
import type { Digest, SessionId } from '@signalbox/model';
import { fakeClock, startChild } from '@signalbox/testkit';
import { artifactRefsOf } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { type CollectOptions, collectSessions, type GuidedTools, keepSession } from '../src/index.ts';
import { acquireSweepLock } from '../src/retention/sweep-lock.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, filesUnder, value, walk } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

/** All that tests write is older than any time that is kept, unless it is made young. */
const NOW = Date.parse('2100-01-01T00:00:00Z');
const clock = fakeClock(NOW);

const collect = (directory: string, change: Partial<CollectOptions> = {}) =>
  collectSessions({ dataDirectory: directory, ports, clock, dryRun: false, ...change });

const makeYoung = (file: string) => utimesSync(file, NOW / 1000 - 60, NOW / 1000 - 60);
const manifestOf = (directory: string, sessionId: SessionId) =>
  path.join(directory, 'sessions', sessionId, 'manifest.jsonl');

async function started(directory: string, workflowId = 'wr.research') {
  const tools = openTools(directory);
  const start = value(await tools.start({ workflowId }));
  const call = filledIn(start);
  const artifacts = [...(call.output?.artifacts ?? []), { kind: 'mine', sessionId: start.sessionId }];
  return value(await tools.continue({ ...call, output: { ...call.output, artifacts } }));
}

describe('collecting guided sessions', () => {
  it('[G27] deletes sessions past their time, then what only they needed; kept, young and needed content stays', async () => {
    const directory = dataDirectory();
    const old = await started(directory);
    const kept = await started(directory);
    const young = await started(directory, 'wr.code-review');
    makeYoung(manifestOf(directory, young.sessionId));
    value(await keepSession({ dataDirectory: directory, ports }, kept.sessionId, true));
    const orphan = path.join(directory, 'snapshots', `${'a'.repeat(64)}.json`);
    const fresh = path.join(directory, 'snapshots', `${'b'.repeat(64)}.json`);
    for (const file of [orphan, fresh]) writeFileSync(file, '{}');
    makeYoung(fresh);

    const before = filesUnder(directory);
    const would = value(await collect(directory, { dryRun: true }));
    expect(filesUnder(directory)).toEqual(before);
    let needed: ReadonlySet<Digest> | undefined;
    const did = value(
      await collect(directory, {
        sweepBlobs: refs => {
          needed = refs;
        },
      }),
    );
    expect({ ...did, isDryRun: true }).toEqual(would);
    expect(did).toMatchObject({
      untrusted: [],
      expired: [{ sessionId: old.sessionId }],
      snapshots: { count: 1, bytes: 2 },
      workflows: { count: 0, bytes: 0 },
    });
    expect(did.retained.toSorted((a, b) => (a.because < b.because ? -1 : 1))).toEqual([
      { sessionId: young.sessionId, because: 'active' },
      { sessionId: kept.sessionId, because: 'kept' },
    ]);
    expect(did.bytes).toBe((did.expired[0]?.bytes ?? 0) + 2);
    expect([existsSync(orphan), existsSync(fresh)]).toEqual([false, true]);
    expect(readdirSync(path.join(directory, 'sessions')).sort()).toEqual([kept.sessionId, young.sessionId].sort());
    const ofOthers = [kept, young].flatMap(({ sessionId }) => [...artifactRefsOf(eventsOf(directory, sessionId))]);
    expect(needed).toEqual(new Set(ofOthers));

    const tools = openTools(directory);
    expect(errorOf(await tools.continue({ stateToken: old.stateToken })).code).toBe('TOKEN_UNKNOWN_NODE');
    for (const other of [kept, young]) expect((await walk(tools, other)).last.isComplete).toBe(true);
  });

  it('[G27] a workflow and snapshots that no session needs go with the last one; a process that knew them keeps working', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const old = value(await tools.start({ workflowId: 'wr.research' }));
    const did = value(await collect(directory));
    expect(did).toMatchObject({ snapshots: { count: 1 }, workflows: { count: 1 }, retained: [] });
    expect([...filesUnder(directory).keys()].filter(file => /^(sessions|snapshots|workflows)/.test(file))).toEqual([]);
    expect(errorOf(await tools.continue(filledIn(old))).code).toBe('TOKEN_UNKNOWN_NODE');
    // The same process stored these very snapshots before.
    const again = value(await tools.start({ workflowId: 'wr.research' }));
    expect((await walk(openTools(directory), again)).last.isComplete).toBe(true);
  });

  it('[G27] writes wait for a sweep, and a sweep for writes', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const turns = async () => {
      for (let turn = 0; turn < 50; turn++) await setImmediate();
    };
    const manifests = () => [...filesUnder(directory).keys()].filter(file => file.endsWith('manifest.jsonl')).length;
    let writing: ReturnType<GuidedTools['start']> | undefined;
    const sweepBlobs = async () => {
      writing = tools.start({ workflowId: 'wr.research' });
      await turns();
      expect(manifests()).toBe(0);
    };
    value(await collect(directory, { sweepBlobs }));
    if (writing === undefined) throw new Error('nothing was swept');
    const start = value(await writing);

    const writer = value(await acquireSweepLock(directory, 'shared'));
    let isSwept = false;
    const sweeping = collect(directory, {
      ttlMs: Number.MAX_SAFE_INTEGER,
      sweepBlobs: () => {
        isSwept = true;
      },
    });
    await turns();
    expect(isSwept).toBe(false);
    value(await tools.continue(filledIn(start)));
    writer.release();
    value(await sweeping);
    expect(isSwept).toBe(true);
  });

  it('[G28] a kept session stays until it is released; one that is being written, or was just written, stays', async () => {
    const directory = dataDirectory();
    const { sessionId } = await started(directory);
    const options = { dataDirectory: directory, ports };
    expect(value(await keepSession(options, sessionId, true))).toEqual({ sessionId, isKept: true, isChanged: true });
    expect(value(await keepSession(options, sessionId, true)).isChanged).toBe(false);
    expect(value(await collect(directory)).retained).toEqual([{ sessionId, because: 'kept' }]);
    expect(value(await keepSession(options, sessionId, false))).toEqual({ sessionId, isKept: false, isChanged: true });
    const busy = { acquire: async () => ({ ok: false, error: { code: 'busy' } }) as const };
    expect(value(await collect(directory, { locks: busy })).retained).toEqual([{ sessionId, because: 'locked' }]);
    // Written after it was judged.
    const meddling = {
      acquire: (file: string) => {
        makeYoung(manifestOf(directory, sessionId));
        return sqliteLocks.acquire(file);
      },
    };
    expect(value(await collect(directory, { locks: meddling })).retained).toEqual([{ sessionId, because: 'active' }]);
    expect(eventsOf(directory, sessionId).length).toBeGreaterThan(0);
    const nobody = '01900000-0000-7000-8000-0000000000a1' as SessionId;
    expect(errorOf(await keepSession(options, nobody, true)).code).toBe('session/unknown');
  });

  it('[G29] deletes nothing if a journal cannot be trusted, and names it', async () => {
    for (const damage of ['session', 'run']) {
      const directory = dataDirectory();
      const bad = await started(directory);
      const good = await started(directory);
      writeFileSync(path.join(directory, 'snapshots', `${'a'.repeat(64)}.json`), '{}');
      if (damage === 'session') appendFileSync(manifestOf(directory, bad.sessionId), '{"v":1}\n{"v":1}\n');
      else {
        mkdirSync(path.join(directory, 'runs/x'), { recursive: true });
        writeFileSync(path.join(directory, 'runs/x/manifest.jsonl'), 'x\ny\n');
      }
      const before = filesUnder(directory);
      let isCalled = false;
      const did = value(
        await collect(directory, {
          sweepBlobs: () => {
            isCalled = true;
          },
        }),
      );
      expect(did).toMatchObject({ expired: [], bytes: 0 });
      expect(did.untrusted.map(({ journal }) => journal)).toEqual([
        damage === 'session' ? `sessions/${bad.sessionId}` : 'runs/x',
      ]);
      expect(did.retained.find(({ sessionId }) => sessionId === good.sessionId)?.because).toBe('nothing_is_deleted');
      expect([filesUnder(directory), isCalled]).toEqual([before, false]);
    }
  });

  it('[G30] a collection killed anywhere leaves every session complete or gone, and the next one finishes its work', async () => {
    const script = childScript(import.meta.dirname, 'support/collect-child.ts');
    const run = (directory: string, at: number) => startChild(script, directory, at).ended;
    for (const at of process.env.SIGNALBOX_SOAK === '1' ? Array.from({ length: 40 }, (_, index) => index) : [0, 1, 3]) {
      const directory = dataDirectory();
      const sessions = [await started(directory), await started(directory), await started(directory)];
      const kept = sessions[1]?.sessionId as SessionId;
      value(await keepSession({ dataDirectory: directory, ports }, kept, true));
      const end = await run(directory, at);
      if (at < 3) expect(end.signal).toBe('SIGKILL');
      for (const { sessionId } of sessions) {
        const directoryOf = path.join(directory, 'sessions', sessionId);
        expect(existsSync(directoryOf) && eventsOf(directory, sessionId).length === 0).toBe(false);
      }
      expect(value(await collect(directory)).untrusted).toEqual([]);
      expect(readdirSync(path.join(directory, 'sessions'))).toEqual([kept]);
      const last = sessions[1];
      if (last !== undefined) expect((await walk(openTools(directory), last)).last.isComplete).toBe(true);
    }
  });

  it('[G30] remains of killed imports are removed when they are old', async () => {
    const directory = dataDirectory();
    for (const name of ['.importing-old', '.importing-young']) {
      mkdirSync(path.join(directory, name));
      writeFileSync(path.join(directory, name, 'x'), 'xy');
    }
    makeYoung(path.join(directory, '.importing-young'));
    expect(value(await collect(directory)).leftovers).toEqual({ count: 1, bytes: 2 });
    expect(readdirSync(directory).filter(name => name.startsWith('.'))).toEqual(['.importing-young']);
  });
});
