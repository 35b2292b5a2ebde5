import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';
import { contractPacks } from '@signalbox/workflow';

/** A part of a workflow that can be put into a file and runs as it is. */
export interface WorkflowSnippet {
  readonly name: string;
  readonly purpose: string;
  /** Added to the steps of the file. */
  readonly steps: readonly JsonObject[];
  /** Added to the lists of the file that have these names. */
  readonly lists?: Readonly<Record<string, readonly JsonObject[]>>;
}

const EVIDENCE = [
  { type: 'regex', pattern: '\\S+:\\d+', message: 'Name each place as file:line' },
  { type: 'length', min: 120, message: 'Say what you did and what came of it' },
];

const LOOP_CONTROL = 'wr.contracts.loop_control';

const step = (id: string, title: string, prompt: string, more: JsonObject = {}): JsonObject => ({
  id,
  title,
  prompt,
  ...more,
});

const constructs: readonly WorkflowSnippet[] = [
  {
    name: 'step',
    purpose: 'a step whose notes must show evidence',
    steps: [step('look', 'Look', 'Say what to do, and what not to do.', { validationCriteria: EVIDENCE })],
  },
  {
    name: 'blocks',
    purpose: 'a step with its prompt in sections',
    steps: [
      {
        id: 'work',
        title: 'Work',
        promptBlocks: {
          goal: 'Say what is true when the step is done.',
          constraints: ['Say what must not happen.'],
          procedure: ['Say the first thing to do.', 'Say the next.'],
          outputRequired: { result: 'what came of it' },
          verify: ['Say how the agent checks its own work.'],
        },
        validationCriteria: EVIDENCE,
      },
    ],
  },
  {
    name: 'forEach',
    purpose: 'the same steps for each item of a list in the context',
    steps: [
      {
        id: 'each-item',
        type: 'loop',
        title: 'Each item',
        loop: { type: 'forEach', items: 'items', itemVar: 'item', maxIterations: 20 },
        body: [step('handle', 'Handle one', 'Handle {{item}}.', { validationCriteria: EVIDENCE })],
      },
    ],
  },
  {
    name: 'while',
    purpose: 'the same steps until an artifact says stop',
    steps: [
      {
        id: 'rounds',
        type: 'loop',
        title: 'Rounds',
        loop: {
          type: 'while',
          maxIterations: 5,
          conditionSource: { kind: 'artifact_contract', contractRef: LOOP_CONTROL, loopId: 'rounds' },
        },
        body: [
          step('round', 'One round', 'Say what one round does.', { validationCriteria: EVIDENCE }),
          step('again', 'Again?', 'Decide from the evidence of this round whether another one is needed.', {
            outputContract: { contractRef: LOOP_CONTROL },
          }),
        ],
      },
    ],
  },
  {
    name: 'assessment',
    purpose: 'a step that rates its result, and blocks while a level is too low',
    lists: {
      assessments: [
        {
          id: 'confidence',
          purpose: 'How sure the result is.',
          dimensions: [{ id: 'evidence', purpose: 'How well it is shown.', levels: ['low', 'medium', 'high'] }],
        },
      ],
    },
    steps: [
      step('rate', 'Rate it', 'Rate how well the result is shown.', {
        assessmentRefs: ['confidence'],
        assessmentConsequences: [
          {
            when: { anyEqualsLevel: 'low' },
            effect: { kind: 'require_followup', guidance: 'Find what is missing, then rate again.' },
          },
        ],
      }),
    ],
  },
  {
    name: 'approval',
    purpose: 'a step that only a person can let through',
    steps: [
      step('approve', 'Ask for approval', 'Say what you are about to do, and what cannot be undone.', {
        requireConfirmation: { kind: 'human_approval' },
        validationCriteria: EVIDENCE,
      }),
    ],
  },
  {
    name: 'parallel',
    purpose: 'routines that subagents follow at the same time',
    steps: [
      {
        id: 'delegate',
        type: 'parallel',
        title: 'Delegate',
        parallelDelegations: [
          {
            workflowId: 'wr.routine-design-review',
            goal: 'Say what to look at.',
            args: { deliverableName: 'the design' },
          },
        ],
        synthesis: { prompt: 'Weigh what came back, and decide.' },
      },
    ],
  },
  {
    name: 'condition',
    purpose: 'a step that is skipped unless a context key has a value',
    steps: [
      step('deep', 'Look deeper', 'Say what to do for large changes only.', {
        runCondition: { var: 'changeSize', equals: 'large' },
        validationCriteria: EVIDENCE,
      }),
    ],
  },
];

/** Everything that can be put into a file: the constructs of the format, and a step for each contract, from the compiler's table. */
export function workflowSnippets(): readonly WorkflowSnippet[] {
  // A loop's decision belongs into its loop: "while" has it.
  const alone = contractPacks.filter(({ contractRef }) => contractRef !== LOOP_CONTROL);
  const contracts = alone.map(({ contractRef, artifactKind }) => {
    const name = contractRef.replace(/^wr\.contracts\./, '');
    return {
      name: contractRef,
      purpose: `a step that hands in an artifact of kind ${artifactKind}`,
      steps: [
        step(name.replaceAll('_', '-'), name.replaceAll('_', ' '), 'Say what the artifact is about.', {
          outputContract: { contractRef },
        }),
      ],
    };
  });
  return [...constructs, ...contracts];
}

/** A source with a snippet at its end. An id that is taken gets a number. */
export function withSnippet(source: JsonObject, { steps, lists = {} }: WorkflowSnippet): JsonObject {
  const taken = new Set(idsIn(source.steps ?? []));
  const own = (id: string) => {
    let free = id;
    for (let n = 2; taken.has(free); n++) free = `${id}-${n}`;
    return free;
  };
  const names = new Map(idsIn(steps as unknown as Json).map(id => [id, own(id)]));
  const renamed = (part: Json, key?: string): Json => {
    if (typeof part === 'string') return key === 'id' || key === 'loopId' ? (names.get(part) ?? part) : part;
    if (Array.isArray(part)) return part.map(each => renamed(each));
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, renamed(value as Json, name)]));
  };
  const added = Object.entries(lists).map(([name, items]) => {
    const there = Array.isArray(source[name]) ? source[name] : [];
    const known = new Set(there.map(each => (isJsonObject(each) ? each.id : undefined)));
    return [name, [...there, ...items.filter(({ id }) => !known.has(id as Json))]];
  });
  const before = Array.isArray(source.steps) ? source.steps : [];
  return { ...source, ...Object.fromEntries(added), steps: [...before, ...steps.map(each => renamed(each))] };
}

/** The ids of steps and loops, bodies included. */
function idsIn(steps: Json): readonly string[] {
  if (!Array.isArray(steps)) return [];
  return steps.flatMap(each => {
    if (!isJsonObject(each)) return [];
    return [...(typeof each.id === 'string' ? [each.id] : []), ...idsIn((each.body ?? []) as Json)];
  });
}
