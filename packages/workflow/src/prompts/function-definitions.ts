import { TRUNCATION_MARKER, truncateUtf8, utf8Length } from '@signalbox/model';
import { functionKeyText } from '../compile/compilation.ts';
import type { CompiledFunction, CompiledStep, CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { promptBudgets } from './prompt-budgets.ts';

/**
 * The definitions that a reader of this prompt needs, each once: those of the pending step, then those that the notes
 * downstream refer to, then those of other branches. In each group by scope (step, loop, workflow) and name. Definitions over
 * the budget are cut and counted.
 */
export function functionDefinitions(
  compiled: CompiledWorkflowSnapshotV1,
  step: CompiledStep,
  downstream: readonly string[] = [],
  branches: readonly string[] = [],
): string | undefined {
  const wantedKeys = new Set(step.functions.map(functionKeyText));
  const referred = compiled.functions.filter(candidate => wantedKeys.has(functionKeyText(candidate)));
  const groups = [referred, spokenOf(compiled, downstream), spokenOf(compiled, branches)];
  const wanted = [...new Set(groups.flatMap(group => group.toSorted(byScopeAndName)))];
  if (wanted.length === 0) return undefined;
  const texts = wanted.map(definitionText);
  const header = 'FUNCTION DEFINITIONS:';
  let room = promptBudgets.functionDefinitions - utf8Length(header) - OMISSION_ROOM;
  const kept: string[] = [];
  for (const text of texts) {
    const bytes = utf8Length(text) + 2;
    if (bytes > room) {
      if (room > utf8Length(TRUNCATION_MARKER) + 2) kept.push(truncateUtf8(text, room - 2));
      else kept.push(`${kept.pop() ?? ''}${TRUNCATION_MARKER}`);
      break;
    }
    kept.push(text);
    room -= bytes;
  }
  const omitted = texts.length - kept.length;
  const note = omitted === 0 ? [] : [`[Omitted ${omitted} function definition${omitted === 1 ? '' : 's'}.]`];
  return [header, ...kept, ...note].join('\n\n');
}

/** Room for the note on omitted definitions, and for the marker before it. */
const OMISSION_ROOM = 80;

const SCOPES = ['step', 'loop', 'workflow'] as const;

function byScopeAndName(left: CompiledFunction, right: CompiledFunction): number {
  return (
    SCOPES.indexOf(left.scope) - SCOPES.indexOf(right.scope) ||
    compareText(left.name, right.name) ||
    compareText(left.owner ?? '', right.owner ?? '')
  );
}

const compareText = (left: string, right: string) => (left === right ? 0 : left < right ? -1 : 1);

/** The functions that texts name as `name(`. */
function spokenOf(compiled: CompiledWorkflowSnapshotV1, texts: readonly string[]): readonly CompiledFunction[] {
  if (texts.length === 0) return [];
  const names = new Set(
    texts.flatMap(text => [...text.matchAll(/([A-Za-z_$][\w$.-]*)\(/g)].map(match => match[1] ?? '')),
  );
  return compiled.functions.filter(({ name }) => names.has(name.replace(/\(\)$/, '')));
}

function definitionText({ name, parameters, definition }: CompiledFunction): string {
  const given = parameters.map(
    parameter =>
      `${parameter.name}${parameter.required ? '' : '?'}${parameter.type === undefined ? '' : `: ${parameter.type}`}`,
  );
  const described = parameters.flatMap(parameter =>
    parameter.description === undefined ? [] : [`- ${parameter.name}: ${parameter.description}`],
  );
  return [`### ${name.replace(/\(\)$/, '')}(${given.join(', ')})`, ...described, definition].join('\n');
}
