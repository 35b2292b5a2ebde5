import { type EventId, portableHasher, type RunId, type Timestamp } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guard as guardSchema, writeSet } from './commit.ts';
import { isKnownGood } from './commit-fast-check.ts';
import { type NodeKey, type OwnerId, taskIdOf } from './ids.ts';
import { isUsualRun } from './run/quick-run.ts';
import { runRecord } from './run/run-record.ts';

const run = '01890000-0000-7000-8000-000000000001' as RunId;
const node = 'build' as NodeKey;
const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const task = taskIdOf(run, node, 0, 'sig');
const digest = portableHasher('x');
const trigger = { kind: 'task', detail: 'task_finished', keys: ['k'], node };
const started = {
  id: task,
  node,
  iteration: 0,
  signature: 'sig',
  status: 'running',
  effects: 'none',
  retryCount: 0,
  maxRetries: 3,
  backoffMs: 1000,
  createdAt: at,
  leaseOwner: 'me' as OwnerId,
  startedAt: at,
};
const { leaseOwner: _, ...released } = started;
const event = (type: string, fields: object) => ({
  type,
  ...fields,
});
const id = '01890000-0000-7000-8000-000000000002' as EventId;
const taskFields = { task, node, iteration: 0, attempt: 1 };

/** What one step of a plan commits, with one of everything. */
const step = {
  writes: {
    at,
    frame: { index: 4, at, trigger, mounted: [node], unmounted: [], written: ['k'], digest, verifiable: true },
    intervals: [
      { space: 'state', key: 'k', fromFrame: 4, change: { kind: 'set', value: { deep: [1, null, 'ü'] } } },
      { space: 'read', key: 'k', fromFrame: 4, change: { kind: 'gone' } },
      {
        space: 'status',
        key: node,
        fromFrame: 4,
        change: {
          kind: 'patch',
          steps: [
            { op: 'set', path: ['status', 0], value: 'succeeded' },
            { op: 'delete', path: ['reason'] },
            { op: 'splice', path: [], at: 2, remove: 0, insert: 'more' },
            { op: 'splice', path: ['list'], at: 0, remove: 1, insert: [{ a: 1 }] },
          ],
        },
      },
    ],
    transitions: [
      { frame: 3, index: 0, key: 'k', change: { kind: 'set', value: 1 }, trigger: 't', node, handler: 'h', at },
    ],
    tasks: [started, { ...released, status: 'done', result: { n: 3 }, handledFrame: 3, endedAt: at }],
    events: [
      event('task.ended', { ...taskFields, outcome: 'done', stale: false }),
      event('state.changed', { frame: 3, index: 0, key: 'k', trigger: 't', node, handler: 'onFinished' }),
      event('handler.ran', { node, handler: 'onFinished', frame: 3, task, id, ts: at }),
      event('task.started', taskFields),
      event('node.status', { node, frame: 4, from: 'running', to: 'succeeded' }),
      event('frame.committed', { frame: 4, trigger, mounted: 1, unmounted: 0, digest }),
      ['task.started', 0],
      ['task.ended', 1, false],
      ['state.changed', 0],
      ['node.status', 2, 'running'],
      ['handler.ran', 1, 'onFinished', 3],
      ['frame.committed'],
    ],
  },
  guard: { run, epoch: 0, version: 5 },
};

/** How a run begins, and how it ends. */
const beginning = {
  writes: {
    at,
    run: {
      kind: 'create',
      run: {
        driver: 'plan',
        name: 'p',
        tags: ['a'],
        correlationId: 'c',
        idempotencyKey: 'k',
        workingDirectory: '/work',
        source: {
          root: '/work',
          entry: '/work/plan.tsx',
          files: [{ path: 'plan.tsx', digest }],
          packages: [{ name: 'zod', version: '4.6.7' }],
          gitCommit: 'abc',
          engine: 'e',
        },
        status: 'running',
        phase: 'EXECUTE',
        mode: 'AUTO',
        globalMode: 'IMPLEMENTATION',
        input: { a: [1] },
        limits: {},
        seed: 7,
        owner: 'me' as OwnerId,
      },
    },
    events: [event('run.created', { id, ts: at, driver: 'plan', name: 'p', by: 'me' })],
  },
  guard: { run, epoch: 0, version: 0 },
};
const ending = {
  writes: {
    at,
    run: { kind: 'change', change: { status: 'completed', phase: 'DONE', output: { a: [1] }, inputSeq: 32 } },
    frame: step.writes.frame,
    events: [
      event('run.status', { from: 'running', to: 'completed' }),
      event('run.phase', { phase: 'DONE' }),
      ['frame.committed'],
    ],
  },
  guard: step.guard,
};
const commits = [step, beginning, ending];

/** A stored run, with one of everything. */
const stored = {
  ...beginning.writes.run.run,
  id: run,
  status: 'stopped',
  stopReason: 'enough',
  output: { a: [1] },
  epoch: 1,
  version: 5,
  frames: 4,
  inputSeq: 0,
  nextSeq: 32,
  records: 6,
  head: digest,
  createdAt: at,
  updatedAt: at,
  startedAt: at,
  endedAt: at,
};

const garbage = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
  fc.constantFrom(undefined, -1, 1.5, 2 ** 60, '', ' ', '\ud800', 'x'.repeat(2_000), Number.NaN, [], {}),
  fc.constantFrom('2026-02-30T00:00:00.000Z', '2026-01-01T00:00:00+01:00', '2026-01-01', at.toLowerCase()),
  fc.constantFrom(task.toUpperCase(), digest.slice(1), 'done', 'gone', 'patch', 'task.retry', ['a'], [{}], [undefined]),
  fc.constant(new (class Odd {})()),
);

/** Every place inside a value. */
function placesOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inside]) => placesOf(inside, [...path, name]))];
}
function placesIn<Whole>(whole: Whole) {
  return placesOf(whole)
    .filter(path => path.length > 0)
    .map(path => ({ whole, path }));
}
const places = commits.flatMap(commit => placesIn(commit as typeof step));
const changes = fc.constantFrom('replace', 'remove', 'add');

function changedAt<Whole>(
  { whole, path }: { readonly whole: Whole; readonly path: readonly (string | number)[] },
  how: 'replace' | 'remove' | 'add',
  value: unknown,
): Whole {
  const copy = structuredClone(whole) as unknown as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((part, name) => part[name] as never, copy);
  const name = String(path.at(-1));
  if (how === 'remove') delete parent[name];
  else if (how === 'add' && Array.isArray(parent)) parent.push(value);
  else parent[how === 'add' ? `${name}2` : name] = value;
  return copy as unknown as Whole;
}

describe('the quick check of a commit', () => {
  it.each([
    ['the steps of a plan write', step],
    ['a run begins with', beginning],
    ['a run ends with', ending],
  ])('[L16] takes what %s', (_what, { writes, guard }) => {
    expect(isKnownGood(writes as never, guard)).toBe(true);
  });

  it('[L16] takes nothing that the schemas refuse or change', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...places), changes, garbage, (place, how, value) => {
        const { writes, guard } = changedAt(place, how, value);
        if (!isKnownGood(writes as never, guard as never)) return;
        taken += 1;
        expect(writeSet.safeParse(writes)).toEqual({ success: true, data: writes });
        expect(guardSchema.safeParse(guard)).toEqual({ success: true, data: guard });
      }),
      { numRuns: 4_000 },
    );
    expect(taken).toBeGreaterThan(20);
  });

  it('[L16] takes a stored run, and none that the schema refuses or changes', () => {
    expect(isUsualRun(stored)).toBe(true);
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...placesIn(stored)), changes, garbage, (place, how, value) => {
        const changed = changedAt(place, how, value);
        if (!isUsualRun(changed)) return;
        taken += 1;
        expect(runRecord.safeParse(changed)).toEqual({ success: true, data: changed });
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(20);
  });
});
