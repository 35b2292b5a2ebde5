import { canonicalJson, type Digest, type Json } from '@signalbox/model';
import { fakeClock, fakeTimers } from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../state/plain-text.ts';
import { createFrameDigest } from './frame-digest.ts';
import { createPhaseGuard, type FramePhase, framePhases } from './frame-phase.ts';
import { createFrameScheduler } from './frame-scheduler.ts';
import { frameRandom } from './plan-context.ts';
import { createStormGuard } from './storm-guard.ts';

describe('the phases of a frame', () => {
  it('[P31] follow their order, and handlers may run before the next frame', () => {
    const guard = createPhaseGuard();
    for (const phase of [...framePhases, 'effects', 'flush', ...framePhases] as const) guard.enter(phase);
    expect(guard.now).toBe('flush');
  });

  it.each([
    [[], 'render', 'phase render cannot follow the start; next is snapshot'],
    [['snapshot', 'render'], 'execute', 'phase execute cannot follow render; next is reconcile'],
    [framePhases, 'render', 'phase render cannot follow flush; next is snapshot or effects'],
  ] as const)('[P31] after %j the phase %s is an error', (before, phase, message) => {
    const guard = createPhaseGuard();
    for (const earlier of before) guard.enter(earlier as FramePhase);
    expect(() => guard.enter(phase)).toThrow(message);
  });
});

describe('the scheduler', () => {
  const setUp = () => {
    const clock = fakeClock();
    const timers = fakeTimers(clock);
    let due = 0;
    const scheduler = createFrameScheduler(clock, timers, () => due++);
    return { timers, scheduler, due: () => due };
  };

  it('[P32] ends of tasks, flushes, input and stop requests do not wait', () => {
    const { scheduler, due } = setUp();
    for (const [index, trigger] of (['task_finished', 'state_flush', 'input', 'stop_requested'] as const).entries()) {
      scheduler.request(trigger);
      expect(due()).toBe(index + 1);
      expect(scheduler.begin()).toEqual([trigger]);
    }
  });

  it('[P32] everything else is batched, at most once in 250 ms', () => {
    const { timers, scheduler, due } = setUp();
    scheduler.request('timer');
    expect([due(), scheduler.begin()]).toEqual([1, ['timer']]);
    for (const trigger of ['task_progressed', 'task_started', 'task_progressed', 'late_write'] as const)
      scheduler.request(trigger);
    timers.advance(249);
    expect(due()).toBe(1);
    timers.advance(1);
    expect([due(), scheduler.begin()]).toEqual([2, ['task_progressed', 'task_started', 'late_write']]);
    timers.advance(1000);
    expect(due()).toBe(2);
  });

  it('[P32] an urgent request takes the waiting ones along', () => {
    const { timers, scheduler, due } = setUp();
    scheduler.begin();
    scheduler.request('task_progressed');
    scheduler.request('task_finished');
    expect([due(), scheduler.begin()]).toEqual([1, ['task_progressed', 'task_finished']]);
    timers.advance(1000);
    expect(due()).toBe(1);
    scheduler.request('late_write');
    scheduler.begin();
    scheduler.request('late_write');
    scheduler.close();
    timers.advance(1000);
    expect(due()).toBe(2);
  });
});

describe('the storm guard', () => {
  const digest = (n: number) => `sha256:${String(n).padStart(64, '0')}` as Digest;

  it('[P33] reports when the same plan, statuses and state recur three times without work or input', () => {
    const guard = createStormGuard();
    const frames = [1, 2, 1, 2, 1].map((n, index) =>
      guard.check({ productive: false, signature: digest(n), at: index * 1000 }),
    );
    expect(frames).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      {
        kind: 'repeated_frame_signature',
        repeats: 3,
        digest: digest(1),
        summary: 'The same plan, statuses and state came up 3 times without any work or input between.',
      },
    ]);
  });

  it('[P33] a working plan may render as fast as it can', () => {
    const guard = createStormGuard();
    for (let n = 0; n < 5000; n++)
      expect(guard.check({ productive: true, signature: digest(n % 2), at: n / 10 })).toBeUndefined();
  });

  it.each([
    ['a second', 1, '11 frames in a second'],
    ['a minute', 250, '201 frames in a minute'],
    ['a run', 60_000, '1001 frames of the run'],
  ])('[P33] bounds frames that came of nothing: in %s', (_what, interval, summary) => {
    const guard = createStormGuard();
    let n = 0;
    let evidence = guard.check({ productive: false, signature: digest(n), at: 0 });
    while (evidence === undefined)
      evidence = guard.check({ productive: false, signature: digest(++n), at: n * interval });
    expect(evidence.summary).toContain(summary);
  });
});

describe('the digest of a frame', () => {
  it('[P34] depends on the content, not on how it came about', () => {
    const entry = fc.tuple(
      fc.constantFrom('node', 'state'),
      fc.constantFrom('a', 'b', 'c'),
      fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    );
    fc.assert(
      fc.property(fc.array(entry), writes => {
        const one = createFrameDigest();
        const last = new Map<string, readonly [string, string, Json | undefined]>();
        for (const [space, key, value] of writes) {
          one.set(space, key, value);
          last.set(`${space} ${key}`, [space, key, value]);
        }
        const two = createFrameDigest();
        for (const [space, key, value] of [...last.values()].reverse()) two.set(space, key, value);
        expect(one.value).toBe(two.value);
      }),
    );
  });

  it('[P34] of a long list depends on its items alone, however it grew or shrank', () => {
    const item = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom({ a: 1 }, { a: 2 }));
    const list = fc.array(item, { minLength: 30, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), fc.nat({ max: 39 }), (versions, cut) => {
        const grown = createFrameDigest();
        const last = versions.at(-1) ?? [];
        for (const version of [...versions, last.slice(0, cut), last]) grown.set('state', 'k', version);
        const whole = createFrameDigest();
        whole.set('state', 'k', structuredClone(last));
        expect(grown.value).toBe(whole.value);
        const other = createFrameDigest();
        other.set('state', 'k', [...last.slice(0, -1), 'other']);
        expect(other.value).not.toBe(whole.value);
      }),
    );
  });

  it('[P34] is taken of canonical JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), value => {
        const plain = JSON.parse(JSON.stringify(value).toWellFormed()) as Json;
        expect(plainText(plain)).toBe(canonicalJson(plain));
      }),
    );
    expect(plainText({ b: undefined as never, a: 1 })).toBe('{"a":1}');
  });

  it('[P34] tells spaces, keys and values apart', () => {
    const of = (...entry: [string, string, Json]) => {
      const digest = createFrameDigest();
      digest.set(...entry);
      return digest.value;
    };
    expect(
      new Set([of('a', 'k', 1), of('b', 'k', 1), of('a', 'l', 1), of('a', 'k', 2), createFrameDigest().value]).size,
    ).toBe(5);
  });
});

it('[P35] random numbers are the same for the same seed and frame, and differ for another', () => {
  const draw = (seed: number, frame: number) => {
    const random = frameRandom(seed, frame);
    return [random(), random(), random()];
  };
  expect(draw(7, 3)).toEqual(draw(7, 3));
  expect(new Set([...draw(7, 3), ...draw(7, 4), ...draw(8, 3)]).size).toBe(9);
  expect(draw(7, 3).every(n => n >= 0 && n < 1)).toBe(true);
});
