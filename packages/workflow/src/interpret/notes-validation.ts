import { type Json, truncateUtf8 } from '@signalbox/model';
import { shapeFaults } from '../compile/shape-check.ts';
import type { ValidationExpression } from '../compile/validation.ts';
import { type ContextLayers, conditionValue } from './condition-value.ts';
import { type Effort, testPattern } from './pattern-match.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/** `failures` say what the notes lack; `faults` are rules that cannot be evaluated. With neither, the notes pass. */
export interface NotesVerdict {
  readonly failures: readonly string[];
  readonly faults: readonly string[];
}

/** Checks notes against the validation of their step. */
export function validateNotes(
  expression: ValidationExpression,
  notes: string,
  asked: { readonly index: WorkflowIndex; readonly context: ContextLayers; readonly effort: Effort },
): NotesVerdict {
  switch (expression.kind) {
    case 'all': {
      const verdicts = expression.of.map(part => validateNotes(part, notes, asked));
      return {
        failures: verdicts.flatMap(verdict => verdict.failures),
        faults: verdicts.flatMap(verdict => verdict.faults),
      };
    }
    case 'any': {
      const verdicts = expression.of.map(part => validateNotes(part, notes, asked));
      if (verdicts.some(holds)) return HOLDS;
      const faults = verdicts.flatMap(verdict => verdict.faults);
      if (faults.length > 0) return { failures: [], faults };
      return {
        failures: [`One of these must hold: ${verdicts.flatMap(verdict => verdict.failures).join('; ')}`],
        faults,
      };
    }
    case 'not': {
      const verdict = validateNotes(expression.of, notes, asked);
      if (verdict.faults.length > 0) return { failures: [], faults: verdict.faults };
      return holds(verdict) ? { failures: [`Must not hold: ${requirementText(expression.of)}`], faults: [] } : HOLDS;
    }
    case 'rule':
      return askRule(expression, notes, asked);
  }
}

/** A short requirement, shown to the agent before it works. */
export function requirementText(expression: ValidationExpression): string {
  switch (expression.kind) {
    case 'all':
      return expression.of.map(requirementText).join(' and ');
    case 'any':
      return expression.of.map(requirementText).join(' or ');
    case 'not':
      return `not: ${requirementText(expression.of)}`;
    case 'rule':
      switch (expression.test) {
        case 'contains':
          return `Must contain '${expression.value}'`;
        case 'regex':
          return `Must match pattern: ${expression.pattern}${expression.flags === '' ? '' : ` (flags ${expression.flags})`}`;
        case 'length': {
          const { min, max } = expression;
          const limits = [
            ...(min === undefined ? [] : [`≥${min} chars`]),
            ...(max === undefined ? [] : [`≤${max} chars`]),
          ];
          return `Length: ${limits.join(', ') || 'any'}`;
        }
        case 'schema':
          return 'Notes must be JSON of the declared schema';
      }
  }
}

type Rule = Extract<ValidationExpression, { kind: 'rule' }>;

const HOLDS: NotesVerdict = { failures: [], faults: [] };

const holds = (verdict: NotesVerdict) => verdict.failures.length === 0 && verdict.faults.length === 0;

function askRule(
  rule: Rule,
  notes: string,
  {
    index,
    context,
    effort,
  }: { readonly index: WorkflowIndex; readonly context: ContextLayers; readonly effort: Effort },
): NotesVerdict {
  if (rule.conditionId !== undefined) {
    const expression = index.expressions.get(rule.conditionId);
    if (expression === undefined) return fault(`the condition ${rule.conditionId} of a rule is not there`);
    const applies = conditionValue(expression, context, { missing: 'is_null', effort });
    if (!applies.ok) return fault(`the condition of a rule cannot be told: ${applies.error.reason}`);
    if (!applies.value) return HOLDS;
  }
  // Every rule reads the notes completely, so the total cost is bounded.
  effort.steps -= Math.ceil(notes.length * STEPS_OF[rule.test]);
  if (effort.steps < 0) return fault('all rules together take too long');
  const verdict = (passes: boolean): NotesVerdict => (passes ? HOLDS : failure(rule, ''));
  switch (rule.test) {
    case 'contains':
      return verdict(notes.includes(rule.value));
    case 'regex': {
      const found = testPattern({ source: rule.pattern, flags: rule.flags }, notes, effort);
      if (found.ok) return verdict(found.value);
      return fault(`the pattern ${truncateUtf8(rule.pattern, 120)} cannot be asked: ${found.error.reason}`);
    }
    case 'length': {
      const length = [...notes].length;
      const passes = length >= (rule.min ?? 0) && length <= (rule.max ?? Number.POSITIVE_INFINITY);
      return passes ? HOLDS : failure(rule, ` (they have ${length})`);
    }
    case 'schema': {
      const read = readJson(notes);
      if (read === undefined) return failure(rule, ' (they are not JSON)');
      const [first] = shapeFaults(rule.shape, read.value);
      return first === undefined ? HOLDS : failure(rule, ` (${first.path === '' ? 'it' : first.path} ${first.reason})`);
    }
  }
}

/** A rule's cost per character of the notes, in match steps; a pattern counts its own. */
const STEPS_OF: Readonly<Record<Rule['test'], number>> = { contains: 1 / 64, regex: 0, length: 1 / 4, schema: 1 };

function failure(rule: Rule, found: string): NotesVerdict {
  const said = rule.message.trim();
  return { failures: [`${said === '' ? requirementText(rule) : said}${found}`], faults: [] };
}

const fault = (reason: string): NotesVerdict => ({ failures: [], faults: [reason] });

/** Notes are often a JSON block in Markdown. */
function readJson(notes: string): { readonly value: Json } | undefined {
  const fenced = /^```(?:json)?\n([\s\S]*)\n```$/.exec(notes.trim());
  try {
    return { value: JSON.parse(fenced?.[1] ?? notes) };
  } catch {
    return undefined;
  }
}
