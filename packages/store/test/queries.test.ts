import { type ArtifactId, Bug, type Json, type RunId } from '@signalbox/model';
import { openQueries, type Queries, readRunValues } from '@signalbox/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  asked,
  at,
  frame,
  freshId,
  gone,
  interval,
  key,
  newRun,
  set,
  startRun,
  task,
} from '../../runs/test/builders.ts';
import { artifactOf } from '../../runs/test/contract/sample-artifact.ts';
import { databaseOf } from './support/database-file.ts';
import { temporaryStore } from './support/stores.ts';

async function asking(): Promise<{
  readonly queries: Queries;
  readonly run: string;
  write(value: Json): Promise<void>;
}> {
  const store = temporaryStore();
  const writer = await startRun(store, newRun({ name: 'hello', tags: ['x'], input: { big: 'i'.repeat(70_000) } }));
  const node = key('build');
  await writer.write({
    at: at(),
    frame: frame(0),
    intervals: [
      interval('node', 'build', 0, set({ kind: 'task', parent: 'root', index: 0, data: { retries: 3 } })),
      interval('status', 'build', 0, set({ status: 'running', iteration: 0 })),
      interval('state', 'count', 0, set(1)),
      interval('state', 'list', 0, set([1])),
      interval('state', 'left', 0, set(1)),
    ],
    tasks: [task(writer.run, { node, status: 'running' })],
    decisions: [{ kind: 'ask', decision: asked(writer.run) }],
    artifacts: [artifactOf(freshId<ArtifactId>())],
  });
  await writer.write({
    at: at(),
    frame: frame(1),
    intervals: [
      interval('status', 'build', 1, { kind: 'patch', steps: [{ op: 'set', path: ['status'], value: 'succeeded' }] }),
      interval('state', 'list', 1, {
        kind: 'patch',
        steps: [{ op: 'splice', path: [], at: 1, remove: 0, insert: [2] }],
      }),
      interval('state', 'left', 1, gone),
    ],
    tasks: [task(writer.run, { node, status: 'done', result: 'r'.repeat(70_000) })],
  });
  const queries = openQueries({ path: databaseOf(store.home) });
  if (!queries.ok) throw new Bug(queries.error.message);
  onTestFinished(() => queries.value.close());
  let next = 2;
  return {
    queries: queries.value,
    run: writer.run,
    async write(value) {
      const index = next++;
      await writer.write({ at: at(), frame: frame(index), intervals: [interval('state', 'count', index, set(value))] });
    },
  };
}

describe('queries of plans', () => {
  it('[D22] see what is committed, as it is now, whatever form it is kept in', async () => {
    const { queries, run, write } = await asking();
    const ask = (sql: string, ...parameters: Json[]) => structuredClone(queries.query(sql, parameters));
    expect(ask('select key, value from state where run_id = ? order by key', run)).toEqual([
      { key: 'count', value: '1' },
      { key: 'list', value: '[1,2]' },
    ]);
    await write({ now: true });
    expect(ask(`select value ->> '$.now' as now from state where key = 'count'`)).toEqual([{ now: 1 }]);
    expect(ask('select node, kind, parent, status, data from nodes')).toEqual([
      { node: 'build', kind: 'task', parent: 'root', status: 'succeeded', data: '{"retries":3}' },
    ]);
    expect(ask('select id, name, driver, tags, length(input) as size, frames from runs')).toEqual([
      { id: run, name: 'hello', driver: 'plan', tags: '["x"]', size: 70_010, frames: 3 },
    ]);
    expect(ask('select run_id, node, status, length(result) as size from tasks')).toEqual([
      { run_id: run, node: 'build', status: 'done', size: 70_002 },
    ]);
    expect(ask('select count(*) as n from decisions where status = ?', 'open')).toEqual([{ n: 1 }]);
    expect(ask('select (select count(*) from runs) as runs, (select count(*) from nodes) as nodes')).toEqual([
      { runs: 1, nodes: 1 },
    ]);
    expect(ask('select count(*) as n from artifacts join runs on runs.id = artifacts.run_id')).toEqual([{ n: 1 }]);
    expect(ask('select coalesce(sum(input_tokens), 0) as spent from usage')).toEqual([{ spent: 0 }]);
    expect(ask('select value from json_each(?)', [1, 2])).toEqual([{ value: 1 }, { value: 2 }]);
    expect(ask('with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select i from n')).toEqual([
      { i: 1 },
      { i: 2 },
      { i: 3 },
    ]);
  });

  it.each([
    'select * from main.runs',
    'select * from intervals',
    'select count(*) from main.records',
    'select * from sqlite_schema',
    'select * from main.sqlite_schema',
    `select value_of(1, 2, 'count', 9)`,
    'insert into runs (id) values (1)',
    'delete from main.tasks',
    'create table mine (a)',
    'create temp table mine (a)',
    'drop view temp.runs',
    `attach ':memory:' as other`,
    'pragma query_only = off',
    'begin',
    'vacuum',
    'select',
  ])('[D22] refuse everything else: %s', async sql => {
    const { queries } = await asking();
    expect(() => queries.query(sql, [])).toThrow(
      /not authorized|authorization denied|prohibited|incomplete input|may not be modified|readonly/,
    );
  });
});

describe('the values of a run', () => {
  it('[D387] are those of its last commit, as every reader has them', async () => {
    const store = temporaryStore();
    const file = databaseOf(store.home);
    const { run, ...writer } = await startRun(store);
    await startRun(store);
    const spaces = ['node', 'status', 'state', 'read'] as const;
    const large = 'x'.repeat(70_000);
    for (let index = 0; index < 40; index++) {
      const grown = Array.from({ length: index + 1 }, (_, n) => ({ n, text: `item ${n}` }));
      await writer.write({
        at: at(),
        frame: frame(index),
        intervals: [
          interval('state', 'grows', index, set(grown)),
          interval('state', 'large', index, set(large + index)),
          interval('node', `n${index}`, index, set({ kind: 'task', index, data: {} })),
          interval('read', `n${index}`, index, index % 2 === 0 ? set(true) : gone),
        ],
      });
      const { frames, version, nextSeq } = (await store.run(run)) ?? {};
      const found = readRunValues(file, run, spaces);
      const expected = new Map<string, ReadonlyMap<string, Json>>();
      for (const space of spaces) expected.set(space, await store.at(run, space, index + 1));
      expect(found).toEqual({ ok: true, value: { frames, version, nextSeq, spaces: expected } });
    }
    expect(readRunValues(file, freshId<RunId>(), spaces)).toEqual({ ok: true, value: undefined });
    expect(readRunValues(`${file}-none`, run, spaces)).toMatchObject({ ok: false, error: { code: 'store/missing' } });
  });
});
