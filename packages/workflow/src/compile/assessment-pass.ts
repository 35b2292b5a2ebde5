import { canonicalJson } from '@signalbox/model';
import { addContract, type Compilation } from './compilation.ts';
import type { CompiledAssessment, CompiledStep } from './compiled-workflow.ts';
import type { Place } from './condition-pass.ts';
import { meantOrOneOf, nearest, type ProblemList } from './problem.ts';
import type { SourceParallelStep, SourceStandardStep, SourceWorkflow } from './source-format.ts';
import type { Expansion, Surroundings } from './template-pass.ts';

/** The assessments of a workflow and of its expanded routines, by id. */
export function compileAssessments(
  workflow: SourceWorkflow,
  expansion: Expansion,
  place: Place,
  problems: ProblemList,
): ReadonlyMap<string, CompiledAssessment> {
  const own = (workflow.assessments ?? []).map(source => ({ source, at: place(source, 'id'), isOwn: true }));
  const compiled = new Map<string, CompiledAssessment>();
  for (const { source, at, isOwn } of [...own, ...expansion.assessments.map(each => ({ ...each, isOwn: false }))]) {
    const assessment: CompiledAssessment = {
      assessmentId: source.id,
      purpose: source.purpose,
      dimensions: source.dimensions.map(each => ({
        dimensionId: each.id,
        purpose: each.purpose,
        levels: each.levels,
        required: each.required ?? true,
      })),
    };
    const before = compiled.get(source.id);
    if (before === undefined) compiled.set(source.id, assessment);
    else if (isOwn || canonicalJson(before) !== canonicalJson(assessment)) {
      problems.add('duplicate_id', at, `There are two assessments "${source.id}".`, 'Rename one of them.');
    }
  }
  return compiled;
}

/** How many levels are searched for a suggestion. */
const MAX_ADVICE = 100;

export function levelIndex(assessments: Iterable<CompiledAssessment>): Compilation['levels'] {
  const index = new Map<string, Set<string>>();
  for (const { assessmentId, dimensions } of assessments) {
    for (const level of dimensions.flatMap(dimension => dimension.levels)) {
      const having = index.get(level.toLowerCase()) ?? new Set();
      index.set(level.toLowerCase(), having.add(assessmentId));
    }
  }
  return index;
}

/** The assessments that a step refers to, and the consequences of their levels. */
export function compileStepAssessments(
  compilation: Compilation,
  step: SourceStandardStep | SourceParallelStep,
  { place }: Surroundings,
): Pick<CompiledStep, 'assessmentRefs' | 'assessmentConsequences'> {
  const { problems, assessments } = compilation;
  const list = step.assessmentRefs ?? [];
  const refs = new Set(list);
  for (const [index, ref] of list.entries()) {
    if (assessments.has(ref)) continue;
    problems.add('assessment_unknown', place(list, index), `There is no assessment "${ref}".`, () => {
      const meant = nearest(ref, assessments.keys());
      return meant === undefined ? 'Define it in assessments.' : `Did you mean "${meant}"?`;
    });
  }
  if (refs.size > 0) addContract(compilation, 'wr.contracts.assessment', place(list));
  const known = new Map<string, boolean>();
  const consequences = (step.assessmentConsequences ?? []).map(({ when, effect }) => {
    const { anyEqualsLevel, forAssessment } = when;
    if (forAssessment !== undefined && !refs.has(forAssessment)) {
      const message = `The step does not refer to the assessment "${forAssessment}".`;
      problems.add('assessment_unknown', place(when, 'forAssessment'), message, 'Add it to assessmentRefs.');
    } else if (refs.size === 0) {
      const message = 'The step has consequences of assessments and refers to none.';
      problems.add('assessment_unknown', place(when), message, 'Add assessmentRefs.');
    } else if (!hasLevel(anyEqualsLevel.toLowerCase(), forAssessment)) {
      const message = `No dimension has the level "${anyEqualsLevel}".`;
      problems.add('assessment_level', place(when, 'anyEqualsLevel'), message, () =>
        meantOrOneOf(anyEqualsLevel, levelsOf(forAssessment === undefined ? refs : [forAssessment])),
      );
    }
    return { anyEqualsLevel, forAssessment, effect };
  });
  return { assessmentRefs: list, assessmentConsequences: consequences };

  /** An unknown assessment is reported elsewhere and not checked further. */
  function hasLevel(level: string, forAssessment: string | undefined): boolean {
    const having = compilation.levels.get(level);
    if (forAssessment !== undefined) return !assessments.has(forAssessment) || having?.has(forAssessment) === true;
    const answer = known.get(level) ?? anyOf(having);
    known.set(level, answer);
    return answer;
  }

  function anyOf(having: ReadonlySet<string> | undefined): boolean {
    if (having !== undefined && !refs.isDisjointFrom(having)) return true;
    return refs.values().every(ref => !assessments.has(ref));
  }

  function levelsOf(ids: Iterable<string>): readonly string[] {
    const levels = new Set<string>();
    for (const id of ids) {
      if (levels.size > MAX_ADVICE) break;
      for (const { levels: own } of (assessments.get(id)?.dimensions ?? []).slice(0, MAX_ADVICE)) {
        for (const level of own.slice(0, MAX_ADVICE)) levels.add(level);
      }
    }
    return [...levels];
  }
}
