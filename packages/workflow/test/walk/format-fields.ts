/**
 * What the document of the workflow format names, written from its text: every field, and the values that mean something
 * different each. `usesIn` says which of them a file has.
 */
export const formatFields: readonly string[] = [
  ...of('workflow', 'id name description version steps modelTier preconditions clarificationPrompts metaGuidance'),
  ...of('workflow', 'functionDefinitions recommendedPreferences features assessments extensionPoints references'),
  ...of('workflow', 'validatedAgainstSpecVersion about examples metricsProfile'),
  ...of('recommendedPreferences', 'recommendedAutonomy recommendedRiskPolicy'),
  ...of('id', 'namespaced legacy dotted'),
  ...of('standard', 'id title prompt promptBlocks templateCall agentRole modelTier guidance askForFiles hasValidation'),
  ...of('standard', 'requireConfirmation runCondition validationCriteria outputContract assessmentRefs'),
  ...of('standard', 'assessmentConsequences notesOptional functionDefinitions functionReferences functionCalls'),
  ...of('standard', 'promptFragments audit verification'),
  ...of('outputContract', 'contractRef required'),
  ...of('functionCalls', 'name args'),
  ...of('promptFragments', 'id when text'),
  ...of('audit', 'prompt rubric'),
  ...of('verification', 'command prompt'),
  ...of('loopStep', 'type loop body'),
  ...of('loop', 'type maxIterations condition items count iterationVar itemVar indexVar conditionSource'),
  ...of('loop.type', 'while until for forEach'),
  ...of('loop.count', 'number key'),
  ...of('body', 'steps id'),
  ...of('conditionSource', 'kind contractRef loopId condition'),
  ...of('conditionSource.kind', 'artifact_contract context_variable'),
  ...of('parallel', 'type parallelDelegations synthesis'),
  ...of('parallelDelegations', 'workflowId goal runCondition contextMapping args modelTier allowedTools'),
  ...of('synthesis', 'prompt outputContract'),
  ...of('condition', 'var equals not_equals gt gte lt lte contains startsWith endsWith matches in and or not'),
  ...of('promptBlocks', 'goal constraints procedure outputRequired verify'),
  ...of('part', 'text ref'),
  ...of('text', 'path argument binding'),
  ...of('rule', 'type value pattern flags min max schema condition message and or not'),
  ...of('rule.type', 'contains regex length schema'),
  ...of('validationCriteria', 'list expression'),
  ...of('contract', 'loop_control assessment review_verdict gate_verdict coding_handoff shaping_handoff'),
  ...of('contract', 'discovery_handoff differentiation_handoff'),
  ...of('assessments', 'id purpose dimensions'),
  ...of('dimensions', 'id purpose levels required'),
  ...of('assessmentConsequences', 'when effect'),
  ...of('when', 'anyEqualsLevel forAssessment'),
  ...of('effect', 'kind guidance'),
  ...of('requireConfirmation', 'true false condition coordinator_eval human_approval kind.condition'),
  ...of('feature', 'wr.features.subagent_guidance wr.features.capabilities'),
  ...of('ref', 'wr.refs.notes_first_durability wr.refs.parallelize_cognition_serialize_synthesis'),
  ...of('ref', 'wr.refs.synthesis_under_disagreement wr.refs.adversarial_challenge_rules'),
];

function of(kind: string, names: string): readonly string[] {
  return names.split(' ').map(name => `${kind} ${name}`);
}

interface Plain {
  readonly [key: string]: unknown;
}

/** The names of the list above that a source, or a routine of it, uses. */
export function usesIn(source: unknown): ReadonlySet<string> {
  const uses = new Set<string>();
  if (isPlain(source)) workflow(source);
  return uses;

  function use(kind: string, name: unknown): void {
    uses.add(`${kind} ${String(name)}`);
  }

  function fields(kind: string, value: Plain): void {
    for (const key of Object.keys(value)) use(kind, key);
  }

  function each(value: unknown, visit: (item: Plain) => void): void {
    for (const item of Array.isArray(value) ? value : []) if (isPlain(item)) visit(item);
  }

  function workflow(value: Plain): void {
    fields('workflow', value);
    use('id', String(value.id).includes('.') ? 'namespaced' : 'legacy');
    if (isPlain(value.recommendedPreferences)) fields('recommendedPreferences', value.recommendedPreferences);
    for (const feature of Array.isArray(value.features) ? value.features : []) {
      use('feature', isPlain(feature) ? feature.id : feature);
    }
    each(value.assessments, assessment => {
      fields('assessments', assessment);
      each(assessment.dimensions, dimension => fields('dimensions', dimension));
    });
    texts(value);
    each(value.steps, step);
  }

  function texts(value: Plain): void {
    const text = JSON.stringify(value);
    if (/\{\{[a-z][\w.]*\}\}/i.test(text.replaceAll(/\{\{wr\.[^}]*\}\}/g, ''))) use('text', 'path');
    if (/\{\{wr\.bindings\./.test(text)) use('text', 'binding');
    if (/(?<!\{)\{[A-Za-z_]\w*\}(?!\})/.test(text)) use('text', 'argument');
  }

  function step(value: Plain): void {
    if (value.type === 'loop') loop(value);
    if (value.type === 'parallel') parallel(value);
    if (value.type !== 'loop') fields('standard', value);
    if (isPlain(value.templateCall)) use('id', 'dotted');
    confirmation(value.requireConfirmation);
    condition(value.runCondition);
    rules(value.validationCriteria);
    contract(value.outputContract);
    if (Array.isArray(value.assessmentRefs)) use('contract', 'assessment');
    each(value.assessmentConsequences, consequence => {
      fields('assessmentConsequences', consequence);
      for (const key of ['when', 'effect']) if (isPlain(consequence[key])) fields(key, consequence[key]);
    });
    for (const list of ['functionCalls', 'promptFragments'] as const) each(value[list], item => fields(list, item));
    each(value.promptFragments, fragment => condition(fragment.when));
    for (const key of ['audit', 'verification'] as const) if (isPlain(value[key])) fields(key, value[key]);
    blocks(value.promptBlocks);
  }

  function loop(value: Plain): void {
    fields('loopStep', value);
    if (isPlain(value.loop)) {
      fields('loop', value.loop);
      use('loop.type', value.loop.type);
      if (value.loop.count !== undefined) use('loop.count', typeof value.loop.count === 'number' ? 'number' : 'key');
      condition(value.loop.condition);
      const { conditionSource } = value.loop;
      if (isPlain(conditionSource)) {
        fields('conditionSource', conditionSource);
        use('conditionSource.kind', conditionSource.kind);
        contract(conditionSource);
        condition(conditionSource.condition);
      }
    }
    use('body', typeof value.body === 'string' ? 'id' : 'steps');
    each(value.body, step);
  }

  function parallel(value: Plain): void {
    fields('parallel', value);
    each(value.parallelDelegations, delegation => {
      fields('parallelDelegations', delegation);
      condition(delegation.runCondition);
    });
    if (!isPlain(value.synthesis)) return;
    fields('synthesis', value.synthesis);
    contract(value.synthesis.outputContract);
  }

  function contract(value: unknown): void {
    if (!isPlain(value) || typeof value.contractRef !== 'string') return;
    fields('outputContract', value);
    use('contract', value.contractRef.replace('wr.contracts.', ''));
  }

  function confirmation(value: unknown): void {
    if (typeof value === 'boolean') use('requireConfirmation', value);
    if (!isPlain(value)) return;
    use('requireConfirmation', typeof value.kind === 'string' ? value.kind : 'condition');
    if (typeof value.kind === 'string' && value.condition !== undefined) use('requireConfirmation', 'kind.condition');
    condition(typeof value.kind === 'string' ? value.condition : value);
  }

  function condition(value: unknown): void {
    if (!isPlain(value)) return;
    fields('condition', value);
    for (const inner of [value.and, value.or].flat()) condition(inner);
    condition(value.not);
  }

  function rules(value: unknown): void {
    if (value === undefined) return;
    use('validationCriteria', Array.isArray(value) ? 'list' : 'expression');
    for (const rule of [value].flat()) one(rule);

    function one(rule: unknown): void {
      if (!isPlain(rule)) return;
      fields('rule', rule);
      if (rule.type !== undefined) use('rule.type', rule.type);
      condition(rule.condition);
      for (const inner of [rule.and, rule.or, rule.not].flat()) one(inner);
    }
  }

  function blocks(value: unknown): void {
    if (!isPlain(value)) return;
    fields('promptBlocks', value);
    const required = isPlain(value.outputRequired) ? Object.values(value.outputRequired) : [];
    const parts = [value.goal, value.constraints, value.procedure, value.verify, required].flat(2);
    for (const part of parts.flat()) {
      if (!isPlain(part)) continue;
      use('part', part.kind);
      if (part.kind === 'ref') use('ref', part.refId);
    }
  }
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
