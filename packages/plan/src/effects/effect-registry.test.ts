import { describe, expect, it } from 'vitest';
import { EffectLoopError } from '../plan-error.ts';
import { createEffectRegistry, type EffectCall } from './effect-registry.ts';

const plainly = (_id: string, code: () => unknown) => code();
const effect = (id: string, deps: EffectCall['deps'], log: string[], more: Partial<EffectCall> = {}): EffectCall => ({
  id,
  deps,
  run: () => void log.push(`run ${id} ${JSON.stringify(deps)}`),
  ...more,
});

describe('effects', () => {
  it('[P36] run when their dependencies changed, compared as canonical JSON', () => {
    const log: string[] = [];
    const registry = createEffectRegistry();
    for (const deps of [[{ a: 1, b: 2 }], [{ b: 2, a: 1 }], [{ a: 1 }], [{ a: 1 }]])
      registry.run([effect('e', deps, log)], plainly);
    expect(log).toEqual(['run e [{"a":1,"b":2}]', 'run e [{"a":1}]']);
  });

  it('[P36] clean up before they run again, and when they leave the plan', () => {
    const log: string[] = [];
    const registry = createEffectRegistry();
    const call = (n: number) =>
      effect('e', [n], log, { run: () => () => log.push(`undo ${n}`), cleanup: () => log.push(`cleanup ${n}`) });
    registry.run([call(1)], plainly);
    const reports = registry.run([call(2)], plainly);
    expect(log).toEqual(['undo 1', 'cleanup 1']);
    expect(reports.map(({ what, held }) => [what, held])).toEqual([
      ['cleaned', true],
      ['ran', true],
    ]);
    registry.remove(['e']);
    registry.close();
    expect(log).toEqual(['undo 1', 'cleanup 1', 'undo 2', 'cleanup 2']);
    expect(registry.isDue([call(2)])).toBe(true);
  });

  it('[P37] that keep coming back to the same dependencies are a loop', () => {
    const registry = createEffectRegistry();
    const reports = [1, 2, 1, 2, 1, 2, 1].flatMap(n => registry.run([effect('e', [n], [])], plainly));
    expect(reports.slice(0, 6).every(report => report.what === 'ran')).toBe(true);
    expect(reports[6]?.error).toBeInstanceOf(EffectLoopError);
    expect(reports[6]?.error?.message).toContain('effect e was triggered 4 times with the same dependencies [1]');
  });

  it('[P37] are not a loop if work ended in between', () => {
    const registry = createEffectRegistry();
    for (let n = 0; n < 20; n++) {
      registry.forgetHistory();
      expect(registry.run([effect('e', [n % 2], [])], plainly).map(({ what }) => what)).toEqual(['ran']);
    }
  });

  it('[P38] run twice in strict mode, with a cleanup in between', () => {
    const log: string[] = [];
    createEffectRegistry({ strict: true }).run([effect('e', [], log, { cleanup: () => log.push('cleanup') })], plainly);
    expect(log).toEqual(['run e []', 'cleanup', 'run e []']);
  });

  it('[P36] that throw or are async fail, and do not run again for the same dependencies', () => {
    const registry = createEffectRegistry();
    const calls = [
      effect('a', [], [], {
        run: () => {
          throw new RangeError('no');
        },
      }),
      effect('b', [], [], {
        run: async () => {
          throw new Error('late');
        },
      }),
    ];
    expect(registry.run(calls, plainly).map(({ what, error }) => [what, error?.message])).toEqual([
      ['failed', 'RangeError: no [node a]'],
      ['failed', 'effect b must not be async; start the work and return [node b]'],
    ]);
    expect(registry.isDue(calls)).toBe(false);
  });

  it('[P39] a resumed run does not repeat an effect that ran, unless it holds a resource of its process', () => {
    const log: string[] = [];
    const memory = new Map([
      ['done', { deps: '[1]', held: false }],
      ['holds', { deps: '[1]', held: true }],
    ]);
    const registry = createEffectRegistry({ memory });
    registry.run(
      ['done', 'holds', 'new'].map(id => effect(id, [1], log)),
      plainly,
    );
    expect(log).toEqual(['run holds [1]', 'run new [1]']);
  });
});
