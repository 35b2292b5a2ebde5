import fc from 'fast-check';
import { byArtifact, decides, workflowOf } from './sources.ts';

/** A routine that any workflow may call, with the argument `what`. */
export const anyRoutine = workflowOf(
  [
    { id: 'look', title: 'Look at {what}', prompt: 'Look at {what}.' },
    { id: 'say', title: 'Say', promptBlocks: { goal: 'Say it.', procedure: ['Read {what}.', 'Write.'] } },
  ],
  { id: 'wr.routine-look', metaGuidance: ['Mind {what}.'] },
);

const words = fc
  .string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '\n', '{', '}', '"', '%'), maxLength: 20 })
  .map(text => `${text}.`);
const key = fc.constantFrom('alpha', 'beta', 'gamma', '__x');

const condition: fc.Arbitrary<object> = fc.letrec<{ condition: object }>(tie => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ var: key }),
    fc.record({ var: key, equals: fc.oneof(fc.boolean(), fc.integer(), words, fc.constant(null)) }),
    fc.record({ var: key, gte: fc.integer(), lt: fc.integer() }),
    fc.record({ var: key, matches: fc.constantFrom('^a+$', 'b|c', '\\d{2}') }),
    fc.record({ and: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
})).condition;

const blockText = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('text'), text: words }),
      fc.record({
        kind: fc.constant('ref'),
        refId: fc.constantFrom('wr.refs.evidence_first', 'wr.refs.notes_first_durability'),
      }),
    ),
    { maxLength: 3 },
  ),
);

const prompt = fc.oneof(
  fc.record({ prompt: words }),
  fc.record({
    promptBlocks: fc.record(
      {
        goal: blockText,
        constraints: fc.array(blockText, { maxLength: 2 }),
        procedure: fc.array(blockText, { maxLength: 2 }),
        outputRequired: fc.dictionary(key, words, { maxKeys: 3 }),
        verify: fc.array(blockText, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  }),
);

const extras = fc.record(
  {
    guidance: fc.array(words, { maxLength: 2 }),
    runCondition: condition,
    requireConfirmation: fc.oneof(
      fc.boolean(),
      condition,
      fc.record({ kind: fc.constant('human_approval'), condition }),
    ),
    validationCriteria: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('contains'), value: words, condition }, { requiredKeys: ['type', 'value'] }),
        fc.record({ type: fc.constant('regex'), pattern: fc.constantFrom('a+', '^b') }),
        fc.record({ type: fc.constant('length'), min: fc.nat(10) }),
      ),
      { maxLength: 3 },
    ),
    promptFragments: fc.array(fc.record({ id: key, when: condition, text: words }, { requiredKeys: ['id', 'text'] }), {
      maxLength: 2,
    }),
    audit: fc.record({ rubric: fc.array(words, { maxLength: 2 }) }),
    verification: fc.record({ command: words }),
    notesOptional: fc.boolean(),
    outputContract: fc.record({
      contractRef: fc.constantFrom('wr.contracts.review_verdict', 'wr.contracts.gate_verdict'),
    }),
  },
  { requiredKeys: [] },
);

const leaf = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(prompt, extras).map(([text, more]) => ({ title: 'Step', ...text, ...more })) },
  {
    weight: 1,
    arbitrary: fc.record({
      title: words,
      templateCall: fc.record({
        templateId: fc.constant('wr.templates.routine.look'),
        args: fc.record({ what: words }),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('parallel'),
      title: words,
      parallelDelegations: fc.array(
        fc.record(
          {
            workflowId: fc.constant('wr.routine-look'),
            goal: words,
            runCondition: condition,
            contextMapping: fc.dictionary(key, key),
          },
          { requiredKeys: ['workflowId'] },
        ),
        { minLength: 1, maxLength: 3 },
      ),
      synthesis: fc.constant({}),
    }),
  },
);

const steps: fc.Arbitrary<object[]> = fc.letrec<{ step: object; steps: object[] }>(tie => ({
  step: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant('loop'),
      title: words,
      loop: fc.oneof(
        fc.constant(byArtifact),
        fc.record({ type: fc.constant('for'), count: fc.nat(5), maxIterations: fc.constant(5) }),
      ),
      body: tie('steps').map(body => [...body, { title: 'Decide', prompt: 'Decide.', ...decides }]),
    }),
  ),
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 4 }),
})).steps;

/** Sources that compile without errors: ids are given afterwards, each its own. */
export const anyWorkflow: fc.Arbitrary<object> = fc
  .tuple(
    steps,
    fc.subarray(['wr.features.capabilities', 'wr.features.subagent_guidance']),
    fc.array(words, { maxLength: 2 }),
  )
  .map(([list, features, metaGuidance]) => {
    let next = 0;
    const named = (step: object): object => {
      const id = `s${next++}`;
      return 'body' in step ? { ...step, id, body: (step.body as object[]).map(named) } : { ...step, id };
    };
    return workflowOf(list.map(named), { features, metaGuidance });
  });

/** The same data with the keys of every object in another order. */
export function shuffledKeys(value: unknown, numbers: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map(item => shuffledKeys(item, numbers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => ({ name, member, rank: Number(numbers.next().value) }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ name, member }) => [name, shuffledKeys(member, numbers)]),
  );
}

/** A copy in which some values, chosen by number, were taken out, renamed or replaced. */
export function damaged(source: object, blows: readonly (readonly [number, number, unknown])[]): unknown {
  const copy = structuredClone(source);
  for (const [where, how, what] of blows) {
    const places = placesIn(copy);
    const place = places[where % places.length];
    if (place === undefined) break;
    const { container, key: name } = place;
    if (how % 3 === 0)
      Array.isArray(container) ? container.splice(Number(name), 1) : Reflect.deleteProperty(container, name);
    else if (how % 3 === 1) Reflect.set(container, name, structuredClone(what));
    else if (!Array.isArray(container))
      Reflect.set(container, `${name}~/x`, structuredClone(Reflect.get(container, name)));
  }
  return copy;
}

function placesIn(value: unknown): { readonly container: object; readonly key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap(name => [{ container: value, key: name }, ...placesIn(Reflect.get(value, name))]);
}
