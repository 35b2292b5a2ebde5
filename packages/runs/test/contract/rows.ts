import { type ArtifactId, defined, type EventId, type RunId, timestamp } from '@signalbox/model';
import {
  type ArtifactRecord,
  type CommitNotice,
  NO_USAGE,
  type Spending,
  type StreamChunk,
  type UsageRecord,
} from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import {
  approval,
  asked,
  at,
  changed,
  created,
  frame,
  freshId,
  hashOf,
  key,
  newRun,
  owner,
  rejection,
  signal,
  startRun,
  task,
} from '../builders.ts';

import type { RunStore } from './run-store.ts';
import { artifactOf } from './sample-artifact.ts';

export function describeRows(name: string, open: () => RunStore): void {
  describe(`tasks, decisions, artifacts and usage in ${name}`, () => {
    it('[L22] keep whole task rows, whose status may follow', async () => {
      const store = open();
      const writer = await startRun(store);
      const pending = task(writer.run);
      const full = task(writer.run, {
        node: key('test'),
        status: 'running',
        effects: 'external',
        leaseOwner: owner('me'),
        leaseExpiresAt: at(30),
        heartbeatAt: at(1),
        retryCount: 1,
        nextRetryAt: at(2),
        lastError: { class: 'retryable', code: '429', message: 'busy', retryAfterMs: 5 },
        blockReason: 'rate_limit',
        result: { partial: true },
        handledFrame: 3,
        startedAt: at(1),
        endedAt: at(2),
      });
      await writer.write({ at: at(), tasks: [pending, full] });
      expect(await store.task(writer.run, full.id)).toEqual(full);
      expect(await store.tasks(writer.run)).toEqual([pending, full]);
      expect(await store.tasks(writer.run, { node: key('test') })).toEqual([full]);
      expect(await store.tasks(writer.run, { status: ['pending', 'done'] })).toEqual([pending]);
      expect(await store.tasks(writer.run, { limit: 1 })).toEqual([pending]);
      expect(await store.tasks(writer.run, { after: pending.id, limit: 9 })).toEqual([full]);
      expect(await store.tasks(writer.run, { after: full.id })).toEqual([]);

      const done = task(writer.run, { status: 'done', result: 1 });
      expect((await writer.refused({ at: at(), tasks: [done] })).code).toBe('run/writes-refused');
      await writer.write({ at: at(), tasks: [{ ...pending, status: 'running' }] });
      await writer.write({ at: at(), tasks: [done] });
      expect(await store.tasks(writer.run)).toEqual([done, full]);
    });

    it('[L22] know at once which tasks have lost their owner', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      const mine = task(one.run, { status: 'running', leaseOwner: owner('me') });
      const lost = task(other.run, { status: 'running', leaseOwner: owner('dead') });
      const losing = task(other.run, { node: key('x'), status: 'canceling', leaseOwner: owner('dead') });
      await one.write({ at: at(), tasks: [mine, task(one.run, { node: key('waits') })] });
      await other.write({ at: at(), tasks: [lost, losing, task(other.run, { node: key('y'), status: 'done' })] });
      expect(await store.orphans([owner('me')])).toEqual([
        { run: other.run, task: lost },
        { run: other.run, task: losing },
      ]);
      expect((await store.orphans([])).length).toBe(3);
    });

    it('[L23] answer a decision once, also from outside the driver, and keep it until it is delivered', async () => {
      const store = open();
      const writer = await startRun(store);
      const { run } = writer;
      const question = asked(run);
      const later = asked(run, { call: 'call-2', askedAt: at(9) });
      await writer.write({
        at: at(),
        decisions: [
          { kind: 'ask', decision: later },
          { kind: 'ask', decision: question },
        ],
      });
      expect(await store.decisions({ status: ['open'] })).toEqual([
        { run, decision: { ...question, status: 'open' } },
        { run, decision: { ...later, status: 'open' } },
      ]);

      const idsOf = async (filter: Parameters<typeof store.decisions>[0]) =>
        (await store.decisions(filter)).map(({ decision }) => decision.id);
      expect(await idsOf({ limit: 1 })).toEqual([question.id]);
      expect(await idsOf({ after: question.id, limit: 9 })).toEqual([later.id]);
      expect(await idsOf({ after: later.id })).toEqual([]);

      const any = { run, version: 'any' } as const;
      const answer = (resolution: typeof approval, by: string, proposalHash = question.proposalHash) =>
        store.commit(
          { at: at(5), decisions: [{ kind: 'answer', id: question.id, proposalHash, resolution, by, at: at(5) }] },
          any,
        );
      expect(await answer(rejection, 'eve', hashOf('something else'))).toMatchObject({
        error: { code: 'decision/stale-proposal' },
      });
      const outcomes = await Promise.all([answer(approval, 'anna'), answer(rejection, 'ben')]);
      expect(outcomes).toMatchObject([
        { ok: true },
        { ok: false, error: { code: 'decision/answered', details: { resolution: approval } } },
      ]);
      await writer.write({ at: at(), decisions: [{ kind: 'deliver', id: question.id, at: at(6) }] });
      expect(await store.decision(question.id)).toEqual({
        run,
        decision: {
          ...question,
          status: 'answered',
          resolution: approval,
          answeredBy: 'anna',
          closedAt: at(5),
          deliveredAt: at(6),
        },
      });
      expect(await store.decisions({ run, status: ['open'] })).toEqual([
        { run, decision: { ...later, status: 'open' } },
      ]);
      expect(await store.decisions({ run: freshId<RunId>() })).toEqual([]);
      expect(await store.decision(freshId())).toBe(undefined);
    });

    it('[L23] find no decision of another run', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      const question = asked(one.run);
      await one.write({ at: at(), decisions: [{ kind: 'ask', decision: question }] });
      const error = await other.refused({ at: at(), decisions: [{ kind: 'withdraw', id: question.id, at: at() }] });
      expect(error.code).toBe('decision/unknown');
    });

    it('[L24] keep artifacts with all that is known of them', async () => {
      const store = open();
      const writer = await startRun(store);
      const plain = artifactOf(freshId<ArtifactId>());
      const rich: ArtifactRecord = {
        ...artifactOf(freshId<ArtifactId>()),
        node: key('build'),
        task: task(writer.run).id,
        kind: 'diff',
        key: 'patch',
        version: 2,
        workstream: 'core',
        status: 'draft',
        provenance: { from: ['a'] },
        diff: { filesChanged: ['a.ts'], summary: 'one file' },
      };
      await writer.write({ at: at(), artifacts: [plain, rich] });
      expect(await store.artifacts(writer.run)).toEqual([plain, rich]);
      expect(await store.artifacts(writer.run, { node: key('build') })).toEqual([rich]);
      expect(await store.artifacts(writer.run, { key: 'patch' })).toEqual([rich]);
    });

    it('[L24] add up what a run and the sub-plans below it spent, each call once', async () => {
      const store = open();
      const root = await startRun(store);
      const origin = (run: RunId) => ({ kind: 'sub-plan', run, node: key('sub'), iteration: 0 }) as const;
      const child = await startRun(store, newRun({ origin: origin(root.run) }));
      const grandchild = await startRun(store, newRun({ origin: origin(child.run) }));
      const head = (await store.run(root.run))?.head ?? hashOf(0);
      const fork = await startRun(store, newRun({ origin: { kind: 'fork', run: root.run, frame: 0, head } }));
      const usage = (call: string, inputTokens: number): UsageRecord => ({
        call,
        inputTokens,
        outputTokens: 1,
        cachedTokens: 2,
        toolCalls: 3,
        costMicroUsd: 4,
        wallMs: 5,
        at: at(),
      });
      await root.write({ at: at(), usage: [usage('1', 10), usage('2', 20)] });
      await root.write({ at: at(), usage: [usage('2', 999)] });
      await child.write({ at: at(), usage: [usage('1', 100)] });
      await grandchild.write({ at: at(), usage: [usage('1', 1_000)] });
      await fork.write({ at: at(), usage: [usage('1', 10_000)] });
      expect(await store.usageOfTree(root.run)).toEqual({
        calls: 4,
        inputTokens: 1_130,
        outputTokens: 4,
        cachedTokens: 8,
        toolCalls: 12,
        costMicroUsd: 16,
        wallMs: 20,
      });
      expect((await store.usageOfTree(child.run)).inputTokens).toBe(1_100);
      expect(await store.usageOfTree(freshId<RunId>())).toEqual(NO_USAGE);
      expect((await store.children(root.run)).map(({ id }) => id)).toEqual([child.run, fork.run]);
    });

    it('[L61] sum what was spent by day, model and directory, from a moment on', async () => {
      const store = open();
      const here = await startRun(store, newRun({ workingDirectory: '/here' }));
      const anywhere = await startRun(store);
      const spent = (call: string, day: string, model?: string): UsageRecord => ({
        call,
        ...(model !== undefined && { provider: 'acme', model }),
        inputTokens: 10,
        outputTokens: 1,
        cachedTokens: 0,
        toolCalls: 0,
        costMicroUsd: 7,
        wallMs: 5,
        at: timestamp.parse(`${day}T12:00:00.000Z`),
      });
      await here.write({ at: at(), usage: [spent('1', '2026-01-02', 'b'), spent('2', '2026-01-02', 'b')] });
      await here.write({ at: at(), usage: [spent('3', '2026-01-02', 'a'), spent('4', '2026-01-01', 'a')] });
      const worked = task(anywhere.run);
      await anywhere.write({ at: at(), usage: [{ ...spent('1', '2026-01-02'), task: worked.id }] });
      const brief = ({ day, model, directory, calls, costMicroUsd }: Spending) => [
        day,
        directory,
        model,
        calls,
        costMicroUsd,
      ];
      expect((await store.spending()).map(brief)).toEqual([
        ['2026-01-02', undefined, undefined, 1, 7],
        ['2026-01-02', '/here', 'a', 1, 7],
        ['2026-01-02', '/here', 'b', 2, 14],
        ['2026-01-01', '/here', 'a', 1, 7],
      ]);
      const since = timestamp.parse('2026-01-02T00:00:00.000Z');
      expect((await store.spending({ run: here.run, since })).map(brief)).toEqual([
        ['2026-01-02', '/here', 'a', 1, 7],
        ['2026-01-02', '/here', 'b', 2, 14],
      ]);
      expect((await store.spending({ task: worked.id })).map(brief)).toEqual([
        ['2026-01-02', undefined, undefined, 1, 7],
      ]);
      expect(await store.spending({ run: freshId<RunId>() })).toEqual([]);
      const byRun = await store.spentByRun(since);
      const tokens = 3 * (spent('', '2026-01-02').inputTokens + spent('', '2026-01-02').outputTokens);
      expect(byRun.toSorted((a, b) => a.costMicroUsd - b.costMicroUsd)).toEqual([
        { run: anywhere.run, tokens: tokens / 3, costMicroUsd: 7 },
        { run: here.run, tokens, costMicroUsd: 21 },
      ]);
    });
  });

  describe(`streams in ${name}`, () => {
    it('[L29] keep what agents say apart from events, in order, each chunk once, and tell it', async () => {
      const store = open();
      const { run } = await startRun(store);
      const [one, other] = [task(run), task(run, { node: key('other') })];
      const chunk = (of: typeof one, index: number, payload: string): StreamChunk => ({
        task: of.id,
        index,
        kind: 'token',
        payload,
        at: at(),
      });
      const told: (readonly StreamChunk[])[] = [];
      store.subscribe(run, ({ stream }) => told.push(stream));
      const any = { run, version: 'any' } as const;
      const first = [chunk(one, 0, 'Hello'), chunk(other, 0, 'elsewhere'), chunk(one, 1, ', ')];
      await store.commit({ at: at(), stream: first }, any);
      await store.commit({ at: at(), stream: [chunk(one, 1, 'again'), chunk(one, 2, 'world')] }, any);
      expect(await store.stream(run, one.id, 0, 10)).toEqual([
        chunk(one, 0, 'Hello'),
        chunk(one, 1, ', '),
        chunk(one, 2, 'world'),
      ]);
      expect(await store.stream(run, one.id, 1, 1)).toEqual([chunk(one, 1, ', ')]);
      expect(told[0]).toEqual(first);
      expect((await store.run(run))?.nextSeq).toBe(1);
    });

    it('[L310] find the last message before a place', async () => {
      const store = open();
      const { run } = await startRun(store);
      const [one, other] = [task(run), task(run, { node: key('other') })];
      const chunk = (of: typeof one, index: number, kind: StreamChunk['kind']) => ({
        ...{ task: of.id, index, kind, payload: { index }, at: at() },
      });
      const kinds = ['token', 'message', 'token', 'tool_start', 'message', 'token'] as const;
      const stream = [...kinds.map((kind, index) => chunk(one, index, kind)), chunk(other, 3, 'message')];
      await store.commit({ at: at(), stream }, { run, version: 'any' });
      const found = [0, 1, 2, 4, 5, 99].map(index => store.messageBefore(run, one.id, index));
      expect(await Promise.all(found)).toEqual([undefined, undefined, 1, 1, 4, 4]);
      expect(await store.messageBefore(run, other.id, 3)).toBeUndefined();
    });

    it('[L311] tell after which event they were said', async () => {
      const store = open();
      const { run } = await startRun(store);
      const said = { task: task(run).id, index: 0, kind: 'token', payload: 'a', at: at() } as const;
      const told: (readonly [number, readonly number[]])[] = [];
      const isTold = new Promise<void>(resolve => {
        store.subscribe(run, ({ seq, events }) => {
          told.push([seq, events.map(({ event }) => event.seq)]);
          if (told.length === 3) resolve();
        });
      });
      const any = { run, version: 'any' } as const;
      const used = (call: string) => ({ id: freshId<EventId>(), ts: at(), type: 'usage.recorded', call }) as const;
      await store.commit({ at: at(), stream: [said] }, any);
      await store.commit({ at: at(), stream: [{ ...said, index: 1 }], events: [used('a'), used('b')] }, any);
      await store.commit({ at: at(), stream: [{ ...said, index: 2 }] }, any);
      await isTold;
      expect(told).toEqual([
        [1, []],
        [1, [1, 2]],
        [3, []],
      ]);
    });
  });

  describe(`the list of runs and the feed in ${name}`, () => {
    it('[L25] is in the order in which runs were created, those of one time by id, on all its pages', async () => {
      const store = open();
      const created = [
        ['c', 3],
        ['a', 5],
        ['b', 5],
        ['d', 4],
      ] as const;
      for (const [digit, second] of created) await startRun(store, newRun(), runNamed(digit), second);
      const first = await store.runs({ limit: 1 });
      const rest = await store.runs({ limit: 3, ...(first.next && { after: first.next }) });
      expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(['b', 'a', 'd', 'c'].map(runNamed));
    });

    it('[D385] is the same for the same logs, in whatever order they were written', async () => {
      const parent = runNamed('f');
      const origin = { kind: 'sub-plan', run: parent, node: key('sub'), iteration: 0 } as const;
      const artifacts = new Map(['a', 'b', 'c'].map(digit => [digit, [1, 2].map(() => artifactOf(freshId()))]));
      const listsAfter = async (...digits: readonly string[]) => {
        const store = open();
        await startRun(store, newRun(), parent);
        for (const digit of digits) {
          const writer = await startRun(store, newRun({ origin }), runNamed(digit));
          const decisions = ['1', '2'].map(call => ({ kind: 'ask', decision: asked(writer.run, { call }) }) as const);
          await writer.write({ at: at(), decisions, ...defined({ artifacts: artifacts.get(digit) }) });
        }
        const runs = (await store.runs()).items.map(({ id }) => id);
        const children = (await store.children(parent)).map(({ id }) => id);
        const decisions = (await store.decisions()).map(({ decision }) => decision.id);
        const listed: ArtifactId[] = [];
        for (let after: ArtifactId | undefined; ; ) {
          const { items, next } = await store.artifactList({ limit: 1, ...defined({ after }) });
          listed.push(...items.map(({ artifact }) => artifact.id));
          if (next === undefined) break;
          after = next;
        }
        const rest = (await store.decisions(defined({ after: decisions[2] }))).map(({ decision }) => decision.id);
        expect(rest).toEqual(decisions.slice(3));
        expect([runs.length, children.length, decisions.length, listed.length]).toEqual([4, 3, 6, 6]);
        return { runs, children, decisions, listed };
      };
      const lists = await listsAfter('a', 'b', 'c');
      expect(await listsAfter('c', 'b', 'a')).toEqual(lists);
      expect(await listsAfter('b', 'a', 'c')).toEqual(lists);
    });

    it('[L25] is filtered, newest first, page by page', async () => {
      const store = open();
      const ids: RunId[] = [];
      for (const [index, fields] of [
        { name: 'one', tags: ['x', 'y'] },
        { name: 'two', correlationId: 'c-1' },
        { name: 'two', tags: ['y'] },
        { name: 'three', status: 'queued' as const },
      ].entries()) {
        const writer = await startRun(store, newRun(fields));
        ids[index] = writer.run;
      }
      const [one, two, third, queued] = ids;
      const found = async (filter: Parameters<typeof store.runs>[0]) =>
        (await store.runs(filter)).items.map(({ id }) => id);
      expect(await found({})).toEqual([queued, third, two, one]);
      expect(await found({ name: 'two' })).toEqual([third, two]);
      expect(await found({ tag: 'y' })).toEqual([third, one]);
      expect(await found({ correlationId: 'c-1' })).toEqual([two]);
      expect(await found({ status: ['queued'] })).toEqual([queued]);
      expect(await found({ status: ['running'], name: 'two', tag: 'y' })).toEqual([third]);
      const { createdAt } = (await store.run(one as RunId)) ?? {};
      if (createdAt === undefined) throw new Error('no run');
      expect(await found({ since: createdAt })).toEqual([queued, third, two, one]);
      expect(await found({ until: createdAt })).toEqual([]);
      const first = await store.runs({ limit: 3 });
      expect([first.items.map(({ id }) => id), first.next]).toEqual([[queued, third, two], two]);
      const rest = await store.runs({ limit: 3, ...(first.next && { after: first.next }) });
      expect([rest.items.map(({ id }) => id), rest.next]).toEqual([[one], undefined]);
    });

    it('[L25] are listed by their file and by where their agents work, however large they are', async () => {
      const store = open();
      const source = { root: '/plans', entry: '/plans/a.tsx', files: [], packages: [], engine: '1' };
      const large = { text: 'x'.repeat(100_000) };
      const ids: RunId[] = [];
      for (const fields of [
        { source, workingDirectory: '/work/one' },
        { source, workingDirectory: '/work/two', input: large },
        { input: large },
        { source: { ...source, entry: '/plans/b.tsx' }, workingDirectory: '/work/one' },
      ]) {
        ids.push((await startRun(store, newRun(fields))).run);
      }
      const [one, two, , other] = ids;
      const found = async (filter: Parameters<typeof store.runs>[0]) =>
        (await store.runs(filter)).items.map(({ id }) => id);
      expect(await found({ entry: '/plans/a.tsx' })).toEqual([two, one]);
      expect(await found({ entry: '/plans/a.tsx', limit: 1 })).toEqual([two]);
      expect(await found({ entry: '/plans/a.tsx', limit: 1, after: two as RunId })).toEqual([one]);
      expect(await found({ directory: '/work/one' })).toEqual([other, one]);
      expect(await found({ entry: '/plans/a.tsx', directory: '/work/two' })).toEqual([two]);
      expect(await found({ entry: '/plans/c.tsx' })).toEqual([]);
    });

    it('[L30] has one run for an idempotency key, however many are started with it at the same time', async () => {
      const store = open();
      const keyed = newRun({ idempotencyKey: 'nightly', workingDirectory: '/srv/project' });
      const ids = Array.from({ length: 5 }, () => freshId<RunId>());
      const outcomes = await Promise.all(ids.map(run => store.commit(created(keyed), { run, epoch: 0, version: 0 })));
      const [first] = ids;
      expect(outcomes.map(outcome => (outcome.ok ? 'ok' : [outcome.error.code, outcome.error.details]))).toEqual([
        'ok',
        ...Array.from({ length: 4 }, () => ['run/duplicate-key', { run: first }]),
      ]);
      const other = await startRun(store, newRun({ idempotencyKey: 'nightly-2' }));
      await startRun(store);
      const found = async (filter: Parameters<typeof store.runs>[0]) =>
        (await store.runs(filter)).items.map(({ id }) => id);
      expect(await found({ idempotencyKey: 'nightly' })).toEqual([first]);
      expect(await found({ idempotencyKey: 'nightly-2' })).toEqual([other.run]);
      expect(await found({ idempotencyKey: 'nightly', status: ['queued'] })).toEqual([]);
      expect(await found({ idempotencyKey: 'weekly' })).toEqual([]);
      expect(await store.run(first as RunId)).toMatchObject(keyed);
    });

    it('[L30] refuses a second start also after the first run has ended, and none that failed', async () => {
      const store = open();
      const keyed = newRun({ idempotencyKey: 'once' });
      const lost = await store.commit(
        { ...created(keyed), frame: frame(7) },
        { run: freshId<RunId>(), epoch: 0, version: 0 },
      );
      expect(lost.ok).toBe(false);
      const writer = await startRun(store, keyed);
      await writer.write(changed({ status: 'completed', output: 1 }));
      expect(await store.commit(created(keyed), { run: freshId<RunId>(), epoch: 0, version: 0 })).toMatchObject({
        error: { code: 'run/duplicate-key', details: { run: writer.run } },
      });
    });

    it('[L26] tell subscribers of each commit after it, in order, of one run or of all', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      const ofOne: CommitNotice[] = [];
      const ofAll: CommitNotice[] = [];
      const end = store.subscribe(one.run, notice => ofOne.push(notice));
      store.subscribe('all', notice => ofAll.push(notice));
      await one.write({ at: at(), events: [signal('a')] });
      await Promise.all([
        one.write({ at: at(), events: [signal('b'), signal('c')] }),
        other.write({ at: at(), events: [signal('d')] }),
      ]);
      await one.refused({ at: at(), events: [signal('never')], frame: frame(9) });
      end();
      await one.write({ at: at(), events: [signal('e')] });
      // The caller of a commit continues before subscribers hear of it.
      await new Promise(process.nextTick);

      const seqs = (notices: readonly CommitNotice[], run: RunId) =>
        notices.filter(notice => notice.run === run).map(({ events }) => events.map(({ event }) => event.seq));
      expect(seqs(ofOne, one.run)).toEqual([[1], [2, 3]]);
      expect(ofOne.every(({ run }) => run === one.run)).toBe(true);
      expect(seqs(ofAll, one.run)).toEqual([[1], [2, 3], [4]]);
      expect(seqs(ofAll, other.run)).toEqual([[1]]);
      expect(ofOne[1]?.events).toEqual(await store.events(one.run, 2, 2));
    });
  });
}

function runNamed(digit: string): RunId {
  return `${digit.repeat(8)}-0000-5000-8000-000000000000` as RunId;
}
