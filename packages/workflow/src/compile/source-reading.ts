import { type Json, tryCanonicalJson, utf8Length } from '@signalbox/model';
import type * as z from 'zod';
import { limits } from './limits.ts';
import { nearest, type ProblemList } from './problem.ts';
import { copySource, type SourceCopy } from './source-copy.ts';
import { type SourceWorkflow, sourceFields, sourceWorkflow } from './source-format.ts';

/** A source with a valid shape; invalid parts have been reported and removed. */
export interface ReadSource {
  readonly workflow: SourceWorkflow;
  readonly copy: SourceCopy;
  /** Pointers to removed parts: their absence is not another problem. */
  readonly removed: ReadonlySet<string>;
}

/**
 * Checks the shape of a source and reports all problems. Invalid parts are removed from the copy, so that later passes can
 * report problems in the rest; undefined if nothing is left.
 */
export function readSource(source: unknown, problems: ProblemList): ReadSource | undefined {
  const plain = tryCanonicalJson(source);
  if (!plain.ok) {
    problems.add('not_json', '', `The workflow is not plain JSON: ${plain.error.reason}.`, 'Write it as a JSON file.');
    return undefined;
  }
  const bytes = utf8Length(plain.value);
  if (bytes > limits.fileBytes) {
    const message = `The workflow takes ${bytes} bytes, more than ${limits.fileBytes}.`;
    problems.add('too_large', '', message, 'Move steps into routines and long texts into referenced files.');
    return undefined;
  }
  const copy = copySource(source as Json, problems);
  if (copy === undefined) return undefined;
  if (typeof copy.root !== 'object' || copy.root === null || Array.isArray(copy.root)) {
    problems.add(
      'invalid_value',
      '',
      'A workflow is a JSON object.',
      'Start the file with { and give id, name, steps.',
    );
    return undefined;
  }
  const removed = mend(copy, problems);
  return removed && { workflow: copy.root as SourceWorkflow, copy, removed };
}

/**
 * Removes invalid parts until the shape is valid, and returns the removed parts; undefined if that is impossible. Most files
 * take one or two rounds.
 */
function mend(copy: SourceCopy, problems: ProblemList): ReadonlySet<string> | undefined {
  const removed = new Set<string>();
  for (let round = 0; round < limits.depth; round++) {
    const result = sourceWorkflow.safeParse(copy.root);
    if (result.success) return removed;
    const taken = new Map<unknown[], Set<number>>();
    const issues = result.error.issues.flatMap(leaves);
    const wrong = issues.filter(issue => !isUnknownKey(issue));
    if (wrong.length > limits.wrongValues) {
      for (const issue of wrong.slice(0, limits.wrongValues)) reportIssue(copy, locate(copy, issue), problems, removed);
      return undefined;
    }
    // All are located first: a part removed for one issue may contain another.
    const located = issues.map(issue => locate(copy, issue));
    for (const each of located) reportIssue(copy, each, problems, removed);
    for (const each of located) takeOut(copy, each, removed, taken);
    for (const [list, indices] of taken) copy.removeItems(list, indices);
  }
  return undefined;
}

type Issue = z.core.$ZodIssue;

/** Replaces a union's issue by those of the best matching branch; an issue of the choice itself stays. */
function leaves(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branches = issue.errors.filter(branch => branch.some(inner => inner.path.length > 0 || isUnknownKey(inner)));
  const furthest = branches.sort((left, right) => reach(right) - reach(left))[0];
  if (furthest === undefined) return [issue];
  return furthest.map(inner => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(leaves);
}

/** How well a branch fits: one whose only fault is an unknown key fits best. */
function reach(branch: readonly Issue[]): number {
  if (branch.every(isUnknownKey)) return 1000;
  return branch.reduce((longest, inner) => Math.max(longest, inner.path.length), 0) - branch.length / 1000;
}

function isUnknownKey(issue: Issue): boolean {
  return issue.code === 'unrecognized_keys';
}

interface Place {
  readonly container: object;
  readonly key: PropertyKey | undefined;
  readonly exists: boolean;
}

/** Walks a path as far as it leads. */
function placeOf(copy: SourceCopy, path: readonly PropertyKey[]): Place {
  let container = copy.root as object;
  for (const [index, key] of path.entries()) {
    if (!Object.hasOwn(container, key)) return { container, key, exists: false };
    const value: unknown = Reflect.get(container, key);
    if (index === path.length - 1) return { container, key, exists: true };
    container = value as object;
  }
  return { container, key: undefined, exists: true };
}

/** An issue and its subject, located before anything was removed. */
interface Located extends Place {
  readonly issue: Issue;
  /** The object with a missing or extra field, and its location. */
  readonly object: object;
  readonly owner: Place;
}

function locate(copy: SourceCopy, issue: Issue): Located {
  const owner = placeOf(copy, isUnknownKey(issue) ? issue.path : issue.path.slice(0, -1));
  const object = owner.key === undefined ? owner.container : (Reflect.get(owner.container, owner.key) as object);
  return { issue, ...placeOf(copy, issue.path), owner, object };
}

function reportIssue(copy: SourceCopy, located: Located, problems: ProblemList, removed: ReadonlySet<string>): void {
  const { issue, container, key, exists, object } = located;
  if (issue.code === 'unrecognized_keys') {
    for (const unknown of issue.keys) {
      problems.add(
        'unknown_field',
        copy.memberPointer(object, unknown),
        `There is no field ${quoted(unknown)} here; it is ignored.`,
        () => {
          const meant = nearest(unknown, knownFields);
          return meant === undefined ? 'Remove it.' : `Remove it, or write ${quoted(meant)} if that is meant.`;
        },
      );
    }
    return;
  }
  if (exists && key !== undefined) {
    const pointer = copy.memberPointer(container, String(key));
    const message = `${quoted(String(key))} is not right: ${described(issue)}.`;
    problems.add('invalid_value', pointer, message, `Change the value at ${pointer}.`);
    return;
  }
  const missing = copy.memberPointer(container, String(key));
  if (removed.has(missing)) return;
  const pointer = copy.pointerOf(container);
  problems.add('missing_field', pointer, `${quoted(String(key))} is missing.`, `Add ${quoted(String(key))}.`);
}

/** Removes the subject of an issue: the value itself, or the object that lacks a required one. */
function takeOut(copy: SourceCopy, located: Located, removed: Set<string>, taken: Map<unknown[], Set<number>>): void {
  const { issue, container, key, exists, owner, object } = located;
  if (issue.code === 'unrecognized_keys') {
    for (const unknown of issue.keys) copy.remove(object, unknown);
    return;
  }
  if (exists) {
    remove(copy, { container, key, exists }, removed, taken);
    return;
  }
  const name = String(key);
  const standIn = name === 'id' ? `unnamed-${removed.size}` : standIns[name];
  if (standIn === undefined) {
    remove(copy, owner, removed, taken);
    return;
  }
  removed.add(copy.memberPointer(container, name));
  Reflect.set(container, name, standIn);
}

/** A placeholder for a missing field, so that the rest of its object can be checked. */
const standIns: Readonly<Record<string, Json>> = {
  name: 'unnamed',
  title: 'untitled',
  description: '',
  version: '0.0.0',
  maxIterations: 1,
};

function remove(
  copy: SourceCopy,
  { container, key }: Place,
  removed: Set<string>,
  taken: Map<unknown[], Set<number>>,
): void {
  if (key === undefined) return;
  removed.add(copy.memberPointer(container, String(key)));
  if (Array.isArray(container)) take(taken, container, Number(key));
  else copy.remove(container, String(key));
}

function take(taken: Map<unknown[], Set<number>>, list: unknown[], index: number): void {
  const indices = taken.get(list) ?? new Set<number>();
  indices.add(index);
  taken.set(list, indices);
}

function described(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${article(issue.expected)}`;
    case 'invalid_value':
      return `it must be ${issue.values.map(value => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `it must be at least ${issue.minimum}${issue.origin === 'number' || issue.origin === 'int' ? '' : ' long'}`;
    case 'too_big':
      return `it must be at most ${issue.maximum}${issue.origin === 'number' || issue.origin === 'int' ? '' : ' long'}`;
    case 'invalid_union':
      return 'discriminator' in issue && issue.discriminator !== undefined
        ? `its ${quoted(String(issue.discriminator))} is none that exists`
        : 'it has none of the forms that are allowed here';
    default:
      return issue.message;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function article(expected: string): string {
  return typeNames[expected] ?? expected;
}

function quoted(name: string): string {
  return `"${name.length > 80 ? `${name.slice(0, 80)}…` : name}"`;
}

/** Known names that an unknown field may be a typo of. */
const knownFields: ReadonlySet<string> = new Set(Object.values(sourceFields).flat());
