import { isJsonObject, type Json, type JsonObject, type Result } from '@signalbox/model';
import { namedFix, type WorkflowProblem } from '@signalbox/workflow';
import type { CheckedWorkflow } from './workflow-check.ts';

/** One change of a source: where, and what. */
interface AppliedFix {
  readonly path: string;
  readonly what: string;
}

/** A mended file can show further problems; a chain of fixes is never longer. */
const MOST_ROUNDS = 10;

/**
 * A source with every fix applied that a problem names (W208). Problems that leave the author a choice stay. `check` compiles a source.
 */
export async function fixedSource(
  source: JsonObject,
  check: (source: JsonObject) => Promise<CheckedWorkflow>,
): Promise<{ readonly source: JsonObject; readonly fixes: readonly AppliedFix[] }> {
  let fixed: JsonObject = structuredClone(source);
  const fixes: AppliedFix[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found: AppliedFix[] = [];
    for (const problem of problemsOf(await check(fixed))) {
      const applied = withFix(fixed, problem);
      if (applied === undefined) continue;
      fixed = applied.source;
      found.push(applied.fix);
    }
    if (found.length === 0) break;
    fixes.push(...found);
  }
  return { source: fixed, fixes };
}

function problemsOf(
  checked: Result<{ readonly warnings: readonly WorkflowProblem[] }, { readonly problems: readonly WorkflowProblem[] }>,
) {
  return checked.ok ? checked.value.warnings : checked.error.problems;
}

/** Undefined if the problem names no fix, or its place is not what the fix is for. */
function withFix(
  source: JsonObject,
  problem: WorkflowProblem,
): { readonly source: JsonObject; readonly fix: AppliedFix } | undefined {
  const fix = namedFix(problem);
  const keys = problem.path.split('/').slice(1).map(unescaped);
  const last = keys.at(-1);
  if (fix === undefined || last === undefined) return undefined;
  const { path } = problem;
  const changed = atKeys(source, keys.slice(0, -1), holder => {
    if (fix.kind === 'rename_field') return renamedField(holder, last, fix.to);
    const before = Array.isArray(holder) ? holder[Number(last)] : isJsonObject(holder) ? holder[last] : undefined;
    if (typeof before !== 'string' || before === fix.to) return undefined;
    return Array.isArray(holder) ? holder.with(Number(last), fix.to) : { ...(holder as JsonObject), [last]: fix.to };
  });
  if (changed === undefined) return undefined;
  const before = valueAt(source, keys);
  const what =
    fix.kind === 'rename_field' ? `field "${last}" is now "${fix.to}"` : `${JSON.stringify(before)} is now "${fix.to}"`;
  const renamed = problem.code === 'invalid_id' ? withRenamedBodies(changed as JsonObject, before, fix.to) : changed;
  return { source: renamed as JsonObject, fix: { path, what } };
}

/** A field keeps its place among the others; one that exists is never overwritten. */
function renamedField(holder: Json, from: string, to: string): Json | undefined {
  if (!isJsonObject(holder) || !Object.hasOwn(holder, from) || Object.hasOwn(holder, to)) return undefined;
  return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key === from ? to : key, value])) as Json;
}

/** The body of a loop may name a step by its id. */
function withRenamedBodies(part: Json, before: unknown, to: string): Json {
  if (Array.isArray(part)) return part.map(each => withRenamedBodies(each, before, to));
  if (!isJsonObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === 'body' && value === before ? to : withRenamedBodies(value as Json, before, to),
    ]),
  );
}

function valueAt(source: Json, keys: readonly string[]): Json | undefined {
  let at: Json | undefined = source;
  for (const key of keys) at = Array.isArray(at) ? at[Number(key)] : isJsonObject(at) ? at[key] : undefined;
  return at;
}

function atKeys(part: Json, keys: readonly string[], change: (holder: Json) => Json | undefined): Json | undefined {
  const [key, ...rest] = keys;
  if (key === undefined) return change(part);
  if (Array.isArray(part)) {
    const inside = part[Number(key)];
    const changed = inside === undefined ? undefined : atKeys(inside, rest, change);
    return changed === undefined ? undefined : part.with(Number(key), changed);
  }
  if (!isJsonObject(part) || !Object.hasOwn(part, key)) return undefined;
  const changed = atKeys(part[key] as Json, rest, change);
  return changed === undefined ? undefined : { ...part, [key]: changed };
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
