import { canonicalJson, type Json } from '@signalbox/model';
import { functionName } from './compilation.ts';
import type { Place } from './condition-pass.ts';
import { limits } from './limits.ts';
import { nearest, type ProblemList } from './problem.ts';
import { finishedText, type Slots, slotsOf } from './prompt-text.ts';
import { type Routines, TEMPLATE_PREFIX } from './routines.ts';
import type {
  SourceChoiceKind,
  SourceCondition,
  SourceConfirmation,
  SourceFunction,
  SourceLoopStep,
  SourceParallelStep,
  SourceStandardStep,
  SourceStep,
  SourceWorkflow,
} from './source-format.ts';
import { isStepId, mendedStepId } from './workflow-id.ts';

/** What a step or loop inherits from its surroundings. */
export interface Surroundings {
  readonly place: Place;
  readonly slots: Slots;
  /** Conditions of the calls it was expanded from: all must hold. */
  readonly conditions: readonly SourceCondition[];
  readonly guidance: readonly string[];
  readonly agentRole?: string | undefined;
  /** Choices reserved for the person in everything here. */
  readonly choices: readonly SourceChoiceKind[];
  readonly functions?: TemplateFunctions | undefined;
  /** The template it came from. */
  readonly templateId?: string | undefined;
}

/** Functions visible to the steps of a template, by name: of its call, of the routine, then of the call's surroundings. */
export interface TemplateFunctions {
  readonly own: ReadonlyMap<string, SourceFunction>;
  readonly outer: TemplateFunctions | undefined;
}

/** A program entry with templates expanded and bodies resolved. */
export type ExpandedNode =
  | {
      readonly kind: 'step';
      readonly sourceId: string;
      readonly step: SourceStandardStep | SourceParallelStep;
      readonly around: Surroundings;
      /** What the caller of a template requires of its last step. */
      readonly confirmation?: SourceConfirmation | undefined;
    }
  | {
      readonly kind: 'loop';
      readonly sourceId: string;
      readonly step: SourceLoopStep;
      readonly around: Surroundings;
      readonly body: readonly ExpandedNode[];
    };

export interface Expansion {
  readonly nodes: readonly ExpandedNode[];
  /** The assessments of the expanded routines. */
  readonly assessments: readonly { readonly source: Assessment; readonly at: string }[];
}

type Assessment = NonNullable<SourceWorkflow['assessments']>[number];

interface Level {
  readonly prefix: string;
  readonly around: Surroundings;
  readonly templates: readonly string[];
  readonly loops: number;
  /** Steps of this file that loops use as their body by id. */
  readonly referable: ReadonlyMap<string, SourceStep>;
  readonly used: Set<string>;
}

/** Expands every template call in place, in the template's order, and resolves step references. */
export function expandTemplates(
  workflow: SourceWorkflow,
  around: Surroundings,
  routines: Routines,
  bindings: ReadonlyMap<string, string>,
  problems: ProblemList,
): Expansion {
  const assessments: { source: Assessment; at: string }[] = [];
  let count = 0;
  let full = false;
  let spent = 0;

  return { nodes: expandFile(workflow.steps, { prefix: '', around, templates: [], loops: 0 }), assessments };

  function expandFile(steps: readonly SourceStep[], level: Omit<Level, 'referable' | 'used'>): readonly ExpandedNode[] {
    const wanted = new Set<string>();
    collectBodyRefs(steps, wanted);
    const referable = new Map(steps.map(step => [step.id, step]));
    const used = new Set<string>();
    const top = steps.filter(step => !wanted.has(step.id));
    const nodes = expandList(top, { ...level, referable, used });
    for (const id of wanted) {
      const step = referable.get(id);
      if (step === undefined || used.has(id) || full) continue;
      const message = `The step "${id}" is the body of a loop that is inside its own body.`;
      problems.add(
        'loop_body',
        level.around.place(step),
        message,
        'Give the loop a body that does not lead back to it.',
      );
    }
    return nodes;
  }

  function expandList(steps: readonly SourceStep[], level: Level): readonly ExpandedNode[] {
    return steps.flatMap(step => expandStep(step, level));
  }

  function expandStep(step: SourceStep, level: Level): readonly ExpandedNode[] {
    if (full) return [];
    if (++count > limits.steps) {
      full = true;
      const message = `With its templates the workflow has more than ${limits.steps} steps.`;
      problems.add('too_many_steps', level.around.place(step), message, 'Split it into several workflows.');
      return [];
    }
    const sourceId = `${level.prefix}${checkedId(step, level)}`;
    if (step.type === 'loop') return [expandLoop(step, sourceId, level)];
    if (step.type === 'parallel' || step.templateCall === undefined) {
      return [{ kind: 'step', sourceId, step, around: level.around }];
    }
    return expandCall(step, step.templateCall, sourceId, level);
  }

  function checkedId(step: SourceStep, level: Level): string {
    if (isStepId(step.id)) return step.id;
    const mended = mendedStepId(step.id);
    const message = `The step id ${JSON.stringify(step.id.slice(0, 120))} is not of a-z, 0-9, - and _ (100 at most).`;
    problems.add('invalid_id', level.around.place(step, 'id'), message, `Call it "${mended}".`);
    return mended;
  }

  function expandLoop(step: SourceLoopStep, sourceId: string, level: Level): ExpandedNode {
    const { around } = level;
    const place = around.place(step);
    const inner: Level = {
      ...level,
      loops: level.loops + 1,
      around: {
        ...around,
        guidance: [
          ...around.guidance,
          ...finishedAll([...asList(step.prompt), ...(step.guidance ?? [])], around, place),
        ],
        agentRole: step.agentRole ?? around.agentRole,
        conditions: [],
      },
    };
    if (inner.loops > limits.loopDepth) {
      const message = `Loops nest deeper than ${limits.loopDepth}.`;
      problems.add('loop_depth', around.place(step), message, 'Move the inner loops into a workflow of their own.');
      return { kind: 'loop', sourceId, step, around, body: [] };
    }
    return { kind: 'loop', sourceId, step, around, body: expandList(bodyOf(step, level), inner) };
  }

  function bodyOf(step: SourceLoopStep, level: Level): readonly SourceStep[] {
    const at = level.around.place(step, 'body');
    if (typeof step.body !== 'string') {
      if (step.body.length === 0) problems.add('loop_body', at, 'The loop has no steps.', 'Add a step to its body.');
      return step.body;
    }
    const target = level.referable.get(step.body);
    if (target === undefined) {
      const body = step.body;
      problems.add('loop_body', at, `There is no top-level step "${body}" to be the body.`, () => {
        const meant = nearest(body, level.referable.keys());
        return meant === undefined ? 'Write the steps of the body here.' : `Did you mean "${meant}"?`;
      });
      return [];
    }
    if (level.used.has(step.body)) {
      const message = `The step "${step.body}" is already the body of another loop.`;
      problems.add('loop_body', at, message, 'Write the steps of this body here, with ids of their own.');
      return [];
    }
    level.used.add(step.body);
    return [target];
  }

  function expandCall(
    step: SourceStandardStep,
    call: NonNullable<SourceStandardStep['templateCall']>,
    sourceId: string,
    level: Level,
  ): readonly ExpandedNode[] {
    const { around } = level;
    const at = around.place(call, 'templateId');
    const templateId = finishedText(call.templateId, around.slots, at, problems);
    const name = templateId.startsWith(TEMPLATE_PREFIX) ? templateId.slice(TEMPLATE_PREFIX.length) : undefined;
    const routine = name === undefined ? undefined : routines.get(name);
    if (routine === undefined) {
      problems.add('template_unknown', at, `There is no template "${templateId}".`, () => {
        const known = [...routines.keys()].map(each => `${TEMPLATE_PREFIX}${each}`);
        const meant = nearest(templateId, known);
        return meant === undefined
          ? `Use ${TEMPLATE_PREFIX}<routine> of a routine that exists.`
          : `Did you mean "${meant}"?`;
      });
      return [];
    }
    if (level.templates.includes(templateId) || level.templates.length >= limits.templateDepth) {
      const path = [...level.templates, templateId].join(' → ');
      const message = level.templates.includes(templateId)
        ? `The templates call each other in a circle: ${path}.`
        : `Templates call each other deeper than ${limits.templateDepth}: ${path}.`;
      problems.add('template_cycle', at, message, 'Take one of these calls out.');
      return [];
    }
    const broken = routine.problems.find(problem => problem.severity === 'error');
    if (broken !== undefined) {
      const message = `The routine "${routine.workflow.id}" cannot be used: at ${broken.path || '/'}, ${broken.message}`;
      problems.add('template_invalid', at, message, 'Mend the routine first.');
      return [];
    }
    checkCallFields(step, around);
    const callPlace = around.place(call);
    const args = new Map(Object.entries(call.args ?? {}).map(([key, arg]) => [key, argumentText(arg)]));
    const { steps, metaGuidance, functionDefinitions, assessments: assessed, extensionPoints } = routine.workflow;
    const { nonAssumableChoices } = routine.workflow;
    const used = { steps, metaGuidance, functionDefinitions, assessments: assessed, extensionPoints };
    const filled = substitute(used, args, callPlace) as typeof used;
    for (const source of filled.assessments ?? []) assessments.push({ source, at: callPlace });
    const slots = slotsOf(filled.extensionPoints, bindings);
    const nodes = expandFile(filled.steps, {
      prefix: `${sourceId}.`,
      templates: [...level.templates, templateId],
      loops: level.loops,
      around: {
        place: () => callPlace,
        slots,
        conditions: [...around.conditions, ...(step.runCondition === undefined ? [] : [step.runCondition])],
        guidance: [
          ...around.guidance,
          ...finishedAll(step.guidance ?? [], around, around.place(step)),
          ...finishedAll(filled.metaGuidance ?? [], { slots }, callPlace),
        ],
        agentRole: step.agentRole ?? around.agentRole,
        choices: [...around.choices, ...(nonAssumableChoices ?? []), ...(step.nonAssumableChoices ?? [])],
        functions: {
          own: byName([...(step.functionDefinitions ?? []), ...(filled.functionDefinitions ?? [])]),
          outer: around.functions,
        },
        templateId,
      },
    });
    if (step.requireConfirmation === undefined) return nodes;
    const last = nodes.findLastIndex(node => node.kind === 'step');
    return nodes.map((node, index) =>
      index === last && node.kind === 'step' ? { ...node, confirmation: step.requireConfirmation } : node,
    );
  }

  function finishedAll(texts: readonly string[], { slots }: { readonly slots: Slots }, at: string): readonly string[] {
    return texts.map(text => finishedText(text, slots, at, problems));
  }

  /** Fields that a call cannot pass on to the steps that replace it. */
  function checkCallFields(step: SourceStandardStep, around: Surroundings): void {
    const unused = [
      ...(['validationCriteria', 'outputContract', 'assessmentRefs', 'assessmentConsequences'] as const),
      ...(['promptFragments', 'audit', 'verification', 'functionCalls', 'functionReferences'] as const),
    ].filter(field => step[field] !== undefined);
    for (const field of unused) {
      const message = `"${field}" has no effect beside a templateCall: the steps of the routine take this step's place.`;
      problems.add(
        'template_call_field',
        around.place(step, field),
        message,
        'Move it into the routine or a step after it.',
      );
    }
  }

  /** `{arg}` in every text, but not in `{{path}}`. */
  function substitute(value: unknown, args: ReadonlyMap<string, string>, at: string): unknown {
    if (full) return value;
    spent += VALUE_COST;
    if (typeof value === 'string') {
      spent += value.length;
      for (const [, name = ''] of value.matchAll(ARGUMENT)) spent += args.get(name)?.length ?? 0;
    }
    if (spent > limits.compiledBytes) {
      full = true;
      const message = `With its templates the workflow takes more than ${limits.compiledBytes} characters.`;
      problems.add('too_large', at, message, 'Use fewer or shorter templates and arguments.');
      return value;
    }
    if (typeof value === 'string') {
      return value.replaceAll(ARGUMENT, (whole, name: string) => {
        const arg = args.get(name);
        if (arg !== undefined) return arg;
        problems.add('template_argument', at, `The template wants the argument "${name}".`, `Add "${name}" to args.`);
        return whole;
      });
    }
    if (Array.isArray(value)) return value.map(item => substitute(item, args, at));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, substitute(member, args, at)]));
  }
}

/** The cost of a copied value in addition to its characters. */
const VALUE_COST = 16;

/** `{arg}`, and not `{{path}}`. */
const ARGUMENT = /(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

function collectBodyRefs(steps: readonly SourceStep[], found: Set<string>): void {
  for (const step of steps) {
    if (step.type !== 'loop') continue;
    if (typeof step.body === 'string') found.add(step.body);
    else collectBodyRefs(step.body, found);
  }
}

/** The first of a name wins. */
function byName(functions: readonly SourceFunction[]): ReadonlyMap<string, SourceFunction> {
  return new Map(functions.toReversed().map(each => [functionName(each.name), each]));
}

function asList(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text];
}

function argumentText(arg: Json): string {
  return typeof arg === 'string' ? arg : canonicalJson(arg);
}
