import { canonicalJson, type Hasher, type JsonObject } from '@signalbox/model';
import { contractPack, contractPacks } from './builtins/contract-packs.ts';
import type { Feature } from './builtins/features.ts';
import type {
  CompiledAssessment,
  CompiledCondition,
  CompiledContract,
  CompiledFunction,
  CompiledLoop,
  CompiledStep,
} from './compiled-workflow.ts';
import type { ConditionExpression } from './condition.ts';
import { compileCondition, type Place } from './condition-pass.ts';
import { limits } from './limits.ts';
import { meantOrOneOf, type ProblemList } from './problem.ts';
import type { SourceCondition, SourceFunction } from './source-format.ts';

/** The state of one compilation while its passes visit the steps. */
export interface Compilation {
  readonly problems: ProblemList;
  readonly hasher: Hasher;
  readonly features: readonly Feature[];
  readonly assessments: ReadonlyMap<string, CompiledAssessment>;
  /** Assessments by level, in lower case. */
  readonly levels: ReadonlyMap<string, ReadonlySet<string>>;
  readonly steps: CompiledStep[];
  readonly loops: CompiledLoop[];
  readonly conditions: Map<string, CompiledCondition>;
  readonly contracts: Map<string, CompiledContract>;
  readonly functions: Map<string, CompiledFunction>;
  /** Ids of steps and loops, and where each is defined. */
  readonly ids: Map<string, string>;
  /** The whole text of a routine, for those that it is delegated to; undefined if it is not known or lacks an argument. */
  readonly delegateText: (workflowId: string, args: JsonObject) => string | undefined;
  /** The snapshot's remaining character budget. Text shared by many steps counts in each of them. */
  readonly budget: { left: number };
}

/** Deducts from the budget; exceeding it is a problem, and nothing more is compiled. */
export function spend({ budget, problems }: Compilation, characters: number, at: string): void {
  if (budget.left < 0) return;
  budget.left -= characters;
  if (budget.left >= 0) return;
  const message = `Compiled, the workflow takes more than ${limits.compiledBytes} characters.`;
  problems.add('too_large', at, message, 'Split it, or share less guidance and fewer conditions among its steps.');
}

/** Registers a condition under an id; several must all hold. */
export function addCondition(
  compilation: Compilation,
  conditionId: string,
  sources: readonly SourceCondition[],
  place: Place,
): string {
  const parts = sources.map(source => compileCondition(source, place, compilation.problems));
  const [first] = parts;
  const expression: ConditionExpression =
    parts.length === 1 && first !== undefined ? first : { kind: 'and', of: parts };
  compilation.conditions.set(conditionId, { conditionId, kind: 'expression', expression });
  const [source] = sources;
  spend(compilation, canonicalJson(expression).length, source === undefined ? '' : place(source));
  return conditionId;
}

/** The contract whose artifacts say whether a loop goes on. */
export const LOOP_CONTROL = 'wr.contracts.loop_control';

/** The name in the condition of a loop that artifacts control; undefined for any other loop. */
export function loopNameOf({ conditions }: Compilation, loopId: string): string | undefined {
  const condition = conditions.get(`loop_${loopId}`);
  return condition?.kind === 'loop_control' ? condition.loopId : undefined;
}

/** Registers a required contract, so that it is pinned with the workflow. */
export function addContract(compilation: Compilation, contractRef: string, at: string): boolean {
  const pack = contractPack(contractRef);
  if (pack !== undefined) {
    compilation.contracts.set(contractRef, pack);
    return true;
  }
  compilation.problems.add('contract_unknown', at, `There is no contract "${contractRef}".`, () =>
    meantOrOneOf(
      contractRef,
      contractPacks.map(each => each.contractRef),
    ),
  );
  return false;
}

/** Reserves an id for a step or a loop; ids are unique. */
export function takeId(compilation: Compilation, id: string, at: string): void {
  const first = compilation.ids.get(id);
  if (first === undefined) {
    compilation.ids.set(id, at);
    return;
  }
  const message = `The id "${id}" is already taken, at ${first || '/'}.`;
  compilation.problems.add('duplicate_id', at, message, 'Give one of them another id.');
}

export type FunctionKey = CompiledStep['functions'][number];

/** Registers the functions defined in one place. */
export function addFunctions(
  compilation: Compilation,
  sources: readonly SourceFunction[] | undefined,
  scope: Omit<FunctionKey, 'name'>,
  place: Place,
  finish: (text: string, at: string) => string,
): void {
  for (const source of sources ?? []) {
    const name = functionName(source.name);
    const key = functionKeyText({ ...scope, name });
    if (compilation.functions.has(key)) {
      const message = `The function "${name}" is defined twice here.`;
      compilation.problems.add('duplicate_id', place(source, 'name'), message, 'Remove or rename one of them.');
      continue;
    }
    compilation.functions.set(key, {
      ...scope,
      name,
      definition: finish(source.definition, place(source, 'definition')),
      parameters: (source.parameters ?? []).map(({ name: parameter, type, required, description }) => ({
        name: parameter,
        type,
        required: required ?? false,
        description,
      })),
    });
  }
}

/** `name()` and `name` are the same function. */
export function functionName(reference: string): string {
  return reference.replace(/\(.*$/s, '').trim();
}

export function functionKeyText({ scope, owner, name }: FunctionKey): string {
  return `${scope}:${owner ?? ''}:${name}`;
}
