import { checkPattern, type Place } from './condition-pass.ts';
import { shapeOfJsonSchema } from './json-schema.ts';
import type { ProblemList } from './problem.ts';
import type { SourceCondition, SourceRule } from './source-format.ts';
import type { ValidationExpression, ValidationTest } from './validation.ts';

/** The criteria of a step. `addCondition` registers the condition of a rule and returns its id. */
export function compileValidation(
  source: SourceRule | readonly SourceRule[],
  place: Place,
  problems: ProblemList,
  addCondition: (condition: SourceCondition) => string,
): ValidationExpression {
  const expression: ValidationExpression = isList(source) ? { kind: 'all', of: source.map(compile) } : compile(source);
  const flags = rulesOf(expression).map(flagOf);
  if (flags.length > 0 && flags.every(flag => flag !== undefined)) {
    const said = flags.map(flag => JSON.stringify(flag)).join(', ');
    problems.add(
      'flag_only_validation',
      place(source),
      flags.length === 1
        ? `The only check is for the words ${said}, which can be written without doing the work.`
        : `All checks are for words (${said}), which can be written without doing the work.`,
      'Check for evidence: numbered findings, file and line, a length; or ask for a typed artifact with outputContract.',
    );
  }
  return expression;

  function compile(rule: SourceRule): ValidationExpression {
    const forms = (['type', 'and', 'or', 'not'] as const).filter(form => rule[form] !== undefined);
    if (forms.length !== 1) {
      problems.add(
        'validation_invalid',
        place(rule),
        `A rule has exactly one of "type", "and", "or" and "not"; this one has ${forms.length === 0 ? 'none' : forms.join(' and ')}.`,
        'Give it a type (contains, regex, length), or combine rules in a list.',
      );
    }
    if (rule.and !== undefined) return { kind: 'all', of: rule.and.map(compile) };
    if (rule.or !== undefined) return { kind: 'any', of: rule.or.map(compile) };
    if (rule.not !== undefined) return { kind: 'not', of: compile(rule.not) };
    const test = testOf(rule);
    return {
      kind: 'rule',
      message: rule.message ?? defaultMessage(test),
      conditionId: rule.condition === undefined ? undefined : addCondition(rule.condition),
      ...test,
    };
  }

  function testOf(rule: SourceRule): ValidationTest {
    const lacks = (field: string) =>
      problems.add(
        'validation_invalid',
        place(rule),
        `A rule of type ${rule.type} needs "${field}".`,
        `Add "${field}".`,
      );
    switch (rule.type) {
      case 'regex':
        if (rule.pattern === undefined) lacks('pattern');
        else checkPattern(rule.pattern, rule.flags ?? '', place(rule, 'pattern'), problems);
        return { test: 'regex', pattern: rule.pattern ?? '', flags: rule.flags ?? '' };
      case 'length':
        if (rule.min === undefined && rule.max === undefined) lacks('min');
        if ((rule.min ?? 0) > (rule.max ?? Number.POSITIVE_INFINITY)) {
          const message = `No text is at least ${rule.min} and at most ${rule.max} long.`;
          problems.add('validation_invalid', place(rule, 'min'), message, 'Make min the smaller one.');
        }
        return { test: 'length', min: rule.min, max: rule.max };
      case 'schema': {
        if (rule.schema === undefined) {
          lacks('schema');
          return { test: 'schema', shape: { type: 'any' } };
        }
        const { shape, ignored } = shapeOfJsonSchema(rule.schema);
        const also = ignored.length === 0 ? '' : ` Of it, ${ignored.join(', ')} cannot be checked.`;
        problems.add(
          'inline_schema',
          place(rule, 'schema'),
          `A schema written into a workflow is kept for older files only.${also}`,
          'Ask for a typed artifact with outputContract.',
        );
        return { test: 'schema', shape };
      }
      default:
        if (rule.value === undefined && rule.type !== undefined) lacks('value');
        return { test: 'contains', value: rule.value ?? '' };
    }
  }
}

function isList(source: SourceRule | readonly SourceRule[]): source is readonly SourceRule[] {
  return Array.isArray(source);
}

function rulesOf(expression: ValidationExpression): readonly Extract<ValidationExpression, { kind: 'rule' }>[] {
  switch (expression.kind) {
    case 'rule':
      return [expression];
    case 'not':
      return rulesOf(expression.of);
    default:
      return expression.of.flatMap(rulesOf);
  }
}

/** The words of a rule that they alone satisfy: a bare word, or a word asserted to be true; as a text or as a pattern of it. */
function flagOf(rule: Extract<ValidationExpression, { kind: 'rule' }>): string | undefined {
  if (rule.test === 'contains') return isFlag(rule.value) ? rule.value : undefined;
  if (rule.test !== 'regex') return undefined;
  const said = rule.pattern.replaceAll(/\\s[*+?]?|\\b|[\^$]/g, ' ').trim();
  return isFlag(said) ? said : undefined;
}

function isFlag(value: string): boolean {
  return /^\s*[\w-]+\s*(?:[=:]\s*(?:true|yes|done)\s*)?$/i.test(value);
}

function defaultMessage(test: ValidationTest): string {
  switch (test.test) {
    case 'contains':
      return `Must contain ${JSON.stringify(test.value)}`;
    case 'regex':
      return `Must match the pattern ${test.pattern}`;
    case 'length':
      return `Must have ${[test.min === undefined ? '' : `at least ${test.min}`, test.max === undefined ? '' : `at most ${test.max}`].filter(Boolean).join(' and ')} characters`;
    case 'schema':
      return 'Must be JSON of the given shape';
  }
}
