import { canonicalJson, portableHasher } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atPointer } from '../../src/compile/source-copy.ts';
import { type CompiledWorkflowSnapshotV1, compiledWorkflowSnapshotV1, type ProgramEntry } from '../../src/index.ts';
import { anyRoutine, anyWorkflow, damaged, shuffledKeys } from './arbitrary-workflow.ts';
import { compile, snapshotOf, stepOf, workflowOf } from './sources.ts';

const routines = [anyRoutine];

describe('any workflow', () => {
  it('[W1] compiles to the same snapshot each time, whatever the order of its keys', () => {
    fc.assert(
      fc.property(anyWorkflow, fc.infiniteStream(fc.nat(1000)), (source, numbers) => {
        const before = canonicalJson(source);
        const first = compile(source, { routines });
        const again = compile(shuffledKeys(source, numbers), { routines });
        expect(first.ok).toBe(true);
        expect(again).toEqual(first);
        expect(canonicalJson(source)).toBe(before);
      }),
    );
  });

  it('[W2] is named by the digest of the canonical text of its snapshot', () => {
    fc.assert(
      fc.property(anyWorkflow, source => {
        const compiled = compile(source, { routines });
        expect(compiled.ok && compiled.value.workflowHash).toBe(
          compiled.ok && portableHasher(canonicalJson(compiled.value.snapshot)),
        );
      }),
    );
  });

  it('[W3] has a snapshot of the fixed shape, in which every step and loop stands once and every id leads somewhere', () => {
    fc.assert(
      fc.property(anyWorkflow, source => {
        const snapshot = snapshotOf(source, { routines });
        expect(compiledWorkflowSnapshotV1.parse(snapshot)).toEqual(snapshot);
        expect(inProgram(snapshot, snapshot.program)).toEqual(snapshot.steps.map(step => step.stepId));
        const bodies = [snapshot.program, ...snapshot.loops.map(loop => loop.body)].flat();
        const loops = bodies.flatMap(entry => (entry.kind === 'loop' ? [entry.loopId] : []));
        expect(loops.sort()).toEqual(snapshot.loops.map(loop => loop.loopId));
        const conditions = new Set(snapshot.conditions.map(each => each.conditionId));
        for (const id of conditionIds(snapshot)) expect(conditions).toContain(id);
        const contracts = new Set(snapshot.contracts.map(each => each.contractRef));
        for (const step of snapshot.steps) if (step.output) expect(contracts).toContain(step.output.contractRef);
      }),
    );
  });

  it('[W4] has its lists in the order of their ids', () => {
    fc.assert(
      fc.property(anyWorkflow, source => {
        const { conditions, loops, contracts, features } = snapshotOf(source, { routines });
        const lists = [
          conditions.map(each => each.conditionId),
          loops.map(each => each.loopId),
          contracts.map(each => each.contractRef),
          features.map(each => each.featureId),
        ];
        for (const ids of lists) expect(ids).toEqual([...new Set(ids)].sort());
      }),
    );
  });

  it('[W5] damaged anyhow, is refused or compiled, and every path of the report leads into the file', () => {
    fc.assert(
      fc.property(
        anyWorkflow,
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.nat(),
            fc.json().map(text => JSON.parse(text) as unknown),
          ),
          { maxLength: 6 },
        ),
        (source, blows) => {
          const broken = damaged(source, blows);
          const compiled = compile(broken, { routines });
          const problems = compiled.ok ? compiled.value.warnings : compiled.error.problems;
          expect(problems.length > 0 || compiled.ok).toBe(true);
          for (const problem of problems) {
            expect(atPointer(broken, problem.path), JSON.stringify(problem)).toMatchObject({ found: true });
            expect(problem.suggestion).not.toBe('');
          }
          if (compiled.ok) expect(compiledWorkflowSnapshotV1.safeParse(compiled.value.snapshot).success).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('[W5] and so is any JSON at all', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), text => {
        const source: unknown = JSON.parse(text);
        const compiled = compile(source);
        const problems = compiled.ok ? [] : compiled.error.problems;
        expect(problems.length).toBeGreaterThan(0);
        for (const problem of problems) expect(atPointer(source, problem.path).found).toBe(true);
      }),
    );
  });
});

it('[W4] the order of features in a file does not count, the order of steps does', () => {
  const features = ['wr.features.capabilities', 'wr.features.subagent_guidance'];
  const hashOf = (source: unknown) => {
    const compiled = compile(source);
    return compiled.ok && compiled.value.workflowHash;
  };
  const steps = [stepOf('a'), stepOf('b')];
  expect(hashOf(workflowOf(steps, { features }))).toBe(hashOf(workflowOf(steps, { features: features.toReversed() })));
  expect(hashOf(workflowOf(steps))).not.toBe(hashOf(workflowOf(steps.toReversed())));
  expect(hashOf(workflowOf(steps))).not.toBe(hashOf(workflowOf(steps, { id: 'project.other' })));
});

function inProgram(snapshot: CompiledWorkflowSnapshotV1, entries: readonly ProgramEntry[]): readonly string[] {
  return entries.flatMap(entry =>
    entry.kind === 'step'
      ? [entry.stepId]
      : inProgram(snapshot, snapshot.loops.find(loop => loop.loopId === entry.loopId)?.body ?? []),
  );
}

/** Every id under a key that names a condition. */
function conditionIds(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(conditionIds);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    /^(runC|c)onditionId$/.test(key) && typeof member === 'string' ? [member] : conditionIds(member),
  );
}
