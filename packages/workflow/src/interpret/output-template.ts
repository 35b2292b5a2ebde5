import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';
import type {
  CompiledAssessment,
  CompiledContract,
  CompiledStep,
  CompiledWorkflowSnapshotV1,
} from '../compile/compiled-workflow.ts';
import type { Shape } from '../compile/shape.ts';

/**
 * What a step's output looks like, with nothing decided: every value that the agent must choose or write is a placeholder in angle
 * brackets. A template never passes as an answer, because placeholders are refused.
 */
export function outputTemplate(compiled: CompiledWorkflowSnapshotV1, step: CompiledStep): OutputTemplate {
  const contract = compiled.contracts.find(({ contractRef }) => contractRef === step.output?.contractRef);
  const assessments = compiled.assessments.filter(({ assessmentId }) => step.assessmentRefs.includes(assessmentId));
  const artifacts = [
    ...(contract === undefined ? [] : [contractTemplate(contract, step.probe && { ...step.probe })]),
    ...assessments.map(assessmentTemplate),
  ];
  return { notesMarkdown: NOTES_TEMPLATE, ...(artifacts.length > 0 && { artifacts }) };
}

export interface OutputTemplate {
  readonly notesMarkdown: string;
  readonly artifacts?: readonly Json[];
}

export const NOTES_TEMPLATE = '<what you did in this step, and only in it>';

/** An artifact of a contract. `known` has values that are not the agent's to choose. */
export function contractTemplate({ artifactKind, shape }: CompiledContract, known: JsonObject = {}): Json {
  const rest = templateOf(shape);
  if (!isJsonObject(rest)) return { kind: artifactKind };
  const given = Object.entries(known).filter(([name]) => Object.hasOwn(rest, name));
  return { kind: artifactKind, ...rest, ...Object.fromEntries(given) };
}

export function assessmentTemplate({ assessmentId, dimensions }: CompiledAssessment): Json {
  const levels = dimensions.map(({ dimensionId, levels }) => [dimensionId, choiceOf(levels)]);
  return { kind: 'wr.assessment', assessmentId, dimensions: Object.fromEntries(levels) };
}

/** Where a value still has a placeholder of the template, by path; keys count too. */
export function placeholdersIn(value: Json, template: Json, path = ''): readonly string[] {
  const known = new Set(placeholders(template));
  const found: string[] = [];
  const visit = (part: Json, at: string): void => {
    if (typeof part === 'string') {
      if (known.has(undecorated(part))) found.push(at);
    } else if (Array.isArray(part)) for (const [index, each] of part.entries()) visit(each, `${at}.${index}`);
    else if (isJsonObject(part)) {
      for (const [key, each] of Object.entries(part)) {
        if (known.has(undecorated(key))) found.push(`${at}.${key}`);
        visit(each, `${at}.${key}`);
      }
    }
  };
  visit(value, path);
  return found;
}

/** A text without what Markdown puts around it: a placeholder in bold, in quotes or in a list is still one. */
function undecorated(text: string): string {
  return text.replace(/^[\s"'`*_>#-]+(?=<)|(?<=>)[\s"'`*_.]+$/g, '').trim();
}

function placeholders(template: Json): readonly string[] {
  if (typeof template === 'string') return /^<.*>$/s.test(template) ? [template] : [];
  if (Array.isArray(template)) return template.flatMap(placeholders);
  if (!isJsonObject(template)) return [];
  return Object.entries(template).flatMap(([key, part]) => [...placeholders(key), ...placeholders(part)]);
}

function templateOf(shape: Shape): Json {
  switch (shape.type) {
    case 'any':
      return '<any JSON>';
    case 'text':
      return shape.min !== undefined && shape.min > 1 ? `<text of ${shape.min} or more characters>` : '<text>';
    case 'number':
    case 'integer':
      return `<${shape.type === 'integer' ? 'whole number' : 'number'}${rangeText(shape.min, shape.max)}>`;
    case 'boolean':
      return '<true | false>';
    case 'null':
      return null;
    case 'one_of':
      return shape.values.length === 1 ? (shape.values[0] ?? null) : choiceOf(shape.values);
    case 'list':
      return [templateOf(shape.of)];
    case 'map':
      return { '<name>': templateOf(shape.of) };
    case 'object':
      return Object.fromEntries(
        shape.fields
          .filter(({ name, required }) => required || name === 'summary')
          .map(({ name, shape: of }) => [name, templateOf(of)]),
      );
    case 'any_of':
      return shape.of[0] === undefined ? '<any JSON>' : templateOf(shape.of[0]);
  }
}

function choiceOf(values: readonly Json[]): string {
  return `<${values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))).join(' | ')}>`;
}

function rangeText(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  return min === undefined ? '' : ` of ${min} or more`;
}
