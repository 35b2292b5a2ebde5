import { canonicalJson, portableHasher } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completedSet,
  derivePendingStep,
  type EngineState,
  encodeSnapshot,
  engineState,
  executionSnapshotFileV1,
} from '../../src/session/execution-snapshot.ts';
import {
  formatStepInstanceKey,
  parseStepInstanceKey,
  type StepInstanceKey,
  stepInstanceKey,
} from '../../src/session/step-instance-key.ts';
import { pendingAt, workflowHash } from './guided-session.ts';

const name = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
const instance = fc.record({
  stepId: name,
  loopPath: fc.array(fc.record({ loopId: name, iteration: fc.nat() }), { maxLength: 4 }),
});

describe('the key of a step', () => {
  it('[W65] says where it stands in its loops', () => {
    expect(formatStepInstanceKey({ stepId: 'triage', loopPath: [] })).toBe('triage');
    const loopPath = [
      { loopId: 'outer', iteration: 0 },
      { loopId: 'inner', iteration: 2 },
    ];
    expect(formatStepInstanceKey({ stepId: 'triage', loopPath })).toBe('outer@0/inner@2::triage');
  });

  it('[W65] is read back as what it was made of', () => {
    fc.assert(
      fc.property(instance, step => {
        expect(parseStepInstanceKey(formatStepInstanceKey(step))).toEqual({ ok: true, value: step });
      }),
    );
  });

  it.each([
    '',
    'A',
    'a b',
    'a::',
    '::a',
    'x@1',
    'x::a',
    'x@01::a',
    'x@-1::a',
    'x@1/::a',
    'x@1::y@2::a',
    'a/b',
    'x@1:a',
  ])('[W65] %j is none', key => {
    expect(stepInstanceKey.safeParse(key).success).toBe(false);
  });
});

describe('snapshots', () => {
  const key = (text: string) => text as StepInstanceKey;
  const looped: EngineState = {
    kind: 'running',
    completed: completedSet([key('first'), key('outer@0::b'), key('outer@0::a'), key('first')]),
    loopStack: [{ loopId: 'outer', iteration: 1, bodyIndex: 0 }],
    pending: { kind: 'some', step: { stepId: 'a', loopPath: [{ loopId: 'outer', iteration: 1 }] } },
  };

  it('[W65] hold what completed in one order, whatever order it came in', () => {
    expect(looped.kind === 'running' && looped.completed.values).toEqual(['first', 'outer@0::a', 'outer@0::b']);
    fc.assert(
      fc.property(fc.array(instance), steps => {
        const keys = steps.map(formatStepInstanceKey);
        expect(completedSet(keys)).toEqual(completedSet(keys.toReversed()));
      }),
    );
  });

  it('[W65] are named by their bytes, which are canonical', () => {
    const { ref, text, file } = encodeSnapshot(portableHasher, workflowHash, looped);
    expect(ref).toBe(portableHasher(text));
    expect(text).toBe(canonicalJson(executionSnapshotFileV1.parse(JSON.parse(text))));
    expect(file.enginePayload.engineState).toEqual(looped);
  });

  it.each<[string, unknown, string]>([
    ['a pending step that is completed', { ...pendingAt('a', 'a') }, 'completed already'],
    [
      'a loop twice on the stack',
      { ...looped, loopStack: [...looped.loopStack, ...looped.loopStack] },
      'on the stack twice',
    ],
    ['a path that is not the stack', { ...looped, loopStack: [] }, 'not the loop stack'],
    [
      'a path in another iteration',
      { ...looped, loopStack: [{ loopId: 'outer', iteration: 0, bodyIndex: 0 }] },
      'not the loop stack',
    ],
    ['steps out of order', { ...pendingAt('c'), completed: { kind: 'set', values: ['b', 'a'] } }, 'ascending order'],
    ['a step twice', { ...pendingAt('c'), completed: { kind: 'set', values: ['a', 'a'] } }, 'ascending order'],
    ['an unknown state', { kind: 'paused' }, 'Invalid'],
    ['pending as null', { ...pendingAt('c'), pending: null }, 'Invalid'],
  ])('[W65] with %s are refused', (_name, state, why) => {
    const parsed = engineState.safeParse(state);
    expect(parsed.error?.issues.map(issue => issue.message).join('; ')).toContain(why);
  });

  it('[W65] tell what is pending', () => {
    expect(derivePendingStep(looped)?.stepId).toBe('a');
    expect(derivePendingStep({ kind: 'complete' })).toBeUndefined();
  });
});
