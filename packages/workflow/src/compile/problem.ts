import { editDistance } from '@signalbox/model';
import { limits } from './limits.ts';

/**
 * Everything that can be wrong with a workflow file. The set is closed; each entry says whether the workflow can still be
 * run (a warning) or not.
 */
export const problemCodes = {
  not_json: 'error',
  too_large: 'error',
  too_deep: 'error',
  too_many_values: 'error',
  too_many_steps: 'error',
  too_many_problems: 'warning',
  missing_field: 'error',
  invalid_value: 'error',
  unknown_field: 'warning',
  invalid_id: 'error',
  duplicate_id: 'error',
  legacy_id: 'warning',
  reserved_namespace: 'error',
  prompt_source: 'error',
  template_unknown: 'error',
  template_invalid: 'error',
  template_cycle: 'error',
  template_argument: 'error',
  template_call_field: 'warning',
  binding_unknown: 'error',
  binding_unresolved: 'error',
  feature_unknown: 'error',
  feature_config: 'error',
  ref_unknown: 'error',
  ref_placement: 'error',
  ref_budget: 'error',
  contract_unknown: 'error',
  contract_kind: 'error',
  function_unknown: 'warning',
  assessment_unknown: 'error',
  assessment_level: 'error',
  capability_conflict: 'error',
  condition_invalid: 'error',
  pattern_invalid: 'error',
  pattern_unsupported: 'error',
  inline_schema: 'warning',
  flag_only_validation: 'warning',
  validation_invalid: 'error',
  loop_control: 'error',
  loop_body: 'error',
  loop_depth: 'error',
  loop_id: 'warning',
  context_loop_source: 'warning',
  loop_without_decision: 'warning',
  loop_decision_outside: 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

export type ProblemCode = keyof typeof problemCodes;
type Severity = 'error' | 'warning';

/** One problem: its location in the file, what is wrong, and how to fix it. */
export interface WorkflowProblem {
  readonly code: ProblemCode;
  readonly severity: Severity;
  /** A JSON pointer to the wrong value, or to the nearest parent of a missing one. */
  readonly path: string;
  readonly message: string;
  readonly suggestion: string;
}

/** What a suggestion that names one value says to do. */
export interface NamedFix {
  readonly kind: 'rename_field' | 'replace_value';
  readonly to: string;
}

/** Undefined if the suggestion leaves the author a choice. */
export function namedFix({ code, suggestion }: Pick<WorkflowProblem, 'code' | 'suggestion'>): NamedFix | undefined {
  const to =
    /^(?:Did you mean|Call it|Remove it, or write) "([^"]+)"/.exec(suggestion)?.[1] ?? newIdIn(code, suggestion);
  if (to === undefined) return undefined;
  return { kind: code === 'unknown_field' ? 'rename_field' : 'replace_value', to };
}

function newIdIn(code: ProblemCode, suggestion: string): string | undefined {
  if (code !== 'legacy_id' && code !== 'reserved_namespace') return undefined;
  return /"(project\.[a-z][a-z0-9_-]*)"/.exec(suggestion)?.[1];
}

/** `strict` is for authors: it turns the loader's warnings, kept for existing files, into errors. */
export type CompileMode = 'load' | 'strict';

const STRICT_ERRORS: ReadonlySet<ProblemCode> = new Set(['unknown_field', 'legacy_id']);

export interface ProblemList {
  /** An expensive suggestion is a function: it is called only for listed problems. */
  add(code: ProblemCode, path: string, message: string, suggestion: string | (() => string)): void;
  readonly hasErrors: boolean;
  /** Sorted by path, then code. */
  all(): readonly WorkflowProblem[];
}

export function problemList(mode: CompileMode): ProblemList {
  const found = new Map<string, WorkflowProblem>();
  let errors = 0;
  let overflow = false;
  return {
    add(code, path, message, suggestion) {
      const key = `${code} ${path} ${message}`;
      if (found.has(key)) return;
      const severity = mode === 'strict' && STRICT_ERRORS.has(code) ? 'error' : problemCodes[code];
      if (severity === 'error') errors++;
      if (found.size >= limits.problems) {
        overflow = true;
        return;
      }
      const advice = typeof suggestion === 'string' ? suggestion : suggestion();
      found.set(key, { code, severity, path, message, suggestion: advice });
    },
    get hasErrors() {
      return errors > 0;
    },
    all() {
      const sorted = [...found.values()].sort(
        (left, right) =>
          compare(left.path, right.path) || compare(left.code, right.code) || compare(left.message, right.message),
      );
      if (!overflow) return sorted;
      const message = `There are more than ${limits.problems} problems; the rest is not listed.`;
      const severity = errors > 0 ? 'error' : problemCodes.too_many_problems;
      return [
        ...sorted,
        { code: 'too_many_problems', severity, path: '', message, suggestion: 'Mend these and try again.' },
      ];
    },
  };
}

/** Code unit order, the same on every machine. */
export function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Limits on name length and candidates, so that suggestions take bounded time. */
const NEAREST_LENGTH = 60;
const NEAREST_CANDIDATES = 500;

/** The closest known name, if one is close enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > NEAREST_LENGTH) return undefined;
  let compared = 0;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    if (++compared > NEAREST_CANDIDATES) break;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** A suggestion for a name outside a closed set. */
export function meantOrOneOf(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  const more = known.length - NAMES_LISTED;
  return `Use one of ${known.slice(0, NAMES_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

const NAMES_LISTED = 20;
