import { err, type Json, type JsonObject, ok, type Result } from '@signalbox/model';
import type { Change, Maybe, PatchStep } from './change.ts';

type Path = readonly (string | number)[];

/**
 * The change from one value to another; undefined if they are equal. A patch if that is smaller than the whole value. Parts that are the
 * same object in both are skipped, so the cost is proportional to the change.
 */
export function changeBetween(old: Maybe, next: Maybe): Change | undefined {
  if (next === undefined) return old === undefined ? undefined : { kind: 'gone' };
  if (old === undefined) return { kind: 'set', value: next };
  const steps: PatchStep[] = [];
  collectSteps(old, next, [], steps);
  if (steps.length === 0) return undefined;
  const bytes = JSON.stringify(steps).length;
  return takesMoreThan(next, bytes) ? { kind: 'patch', steps } : { kind: 'set', value: next };
}

/** The value after a change, or why the change does not fit. Shares unchanged parts with the old value. */
export function applyChange(value: Maybe, change: Change): Result<Maybe, string> {
  switch (change.kind) {
    case 'set':
      return ok(change.value);
    case 'gone':
      return ok(undefined);
    case 'patch':
      return applySteps(value, change.steps, false);
  }
}

/**
 * Applies many patches to a value that the caller owns, such as one just parsed: it is changed in place, so that a list of N items is
 * assembled from N patches in N steps.
 */
export function replayPatches(own: Maybe, patches: Iterable<readonly PatchStep[]>): Result<Maybe, string> {
  let current = own;
  for (const steps of patches) {
    const next = applySteps(current, steps, true);
    if (!next.ok) return next;
    current = next.value;
  }
  return ok(current);
}

function applySteps(value: Maybe, steps: readonly PatchStep[], isOwn: boolean): Result<Maybe, string> {
  let current = value;
  for (const step of steps) {
    if (current === undefined) return err('a patch needs a value to change');
    const next = applyStep(current, step, 0, isOwn);
    if (!next.ok) return next;
    current = next.value;
  }
  return ok(current);
}

/** Shorter texts are replaced whole. */
const MIN_SPLICED_TEXT = 64;

function collectSteps(old: Json, next: Json, path: Path, steps: PatchStep[]): void {
  if (Object.is(old, next)) return;
  if (isList(old) && isList(next)) listSteps(old, next, path, steps);
  else if (isObject(old) && isObject(next)) objectSteps(old, next, path, steps);
  else if (typeof old === 'string' && typeof next === 'string') textSteps(old, next, path, steps);
  else if (old !== next) steps.push({ op: 'set', path, value: next });
}

function objectSteps(old: JsonObject, next: JsonObject, path: Path, steps: PatchStep[]): void {
  for (const key of Object.keys(old)) {
    if (old[key] !== undefined && member(next, key) === undefined) steps.push({ op: 'delete', path: [...path, key] });
  }
  for (const key of Object.keys(next)) {
    const value = next[key];
    if (value === undefined) continue;
    const before = member(old, key);
    if (before === undefined) steps.push({ op: 'set', path: [...path, key], value });
    else collectSteps(before, value, [...path, key], steps);
  }
}

function listSteps(old: readonly Json[], next: readonly Json[], path: Path, steps: PatchStep[]): void {
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && areEqual(old[start], next[start])) start++;
  let end = 0;
  while (end < shorter - start && areEqual(old[old.length - 1 - end], next[next.length - 1 - end])) end++;
  if (old.length !== next.length) {
    const insert = next.slice(start, next.length - end);
    steps.push({ op: 'splice', path, at: start, remove: old.length - end - start, insert });
    return;
  }
  for (let index = start; index < old.length - end; index++) {
    collectSteps(old[index] as Json, next[index] as Json, [...path, index], steps);
  }
}

function textSteps(old: string, next: string, path: Path, steps: PatchStep[]): void {
  if (old === next) return;
  if (next.length < MIN_SPLICED_TEXT) {
    steps.push({ op: 'set', path, value: next });
    return;
  }
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
  // Splitting a surrogate pair would leave a text without a UTF-8 form.
  if (start > 0 && isHighSurrogate(next, start - 1)) start--;
  if (end > 0 && isHighSurrogate(next, next.length - end - 1)) end--;
  const insert = next.slice(start, next.length - end);
  steps.push({ op: 'splice', path, at: start, remove: old.length - end - start, insert });
}

function applyStep(value: Json, step: PatchStep, depth: number, isOwn: boolean): Result<Json, string> {
  const key = step.path[depth];
  if (key === undefined) return applyHere(value, step, isOwn);
  if (typeof key === 'number') {
    if (!isList(value) || key >= value.length) return err(`there is no item ${key} to change`);
    const next = applyStep(value[key] as Json, step, depth + 1, isOwn);
    return next.ok ? ok(withItem(value, key, next.value, isOwn)) : next;
  }
  if (!isObject(value)) return err(`there is no object with '${key}' to change`);
  const isLast = depth === step.path.length - 1;
  if (isLast && step.op === 'set') return ok(withMember(value, key, step.value, isOwn));
  const before = member(value, key);
  if (before === undefined) return err(`there is no '${key}' to change`);
  if (isLast && step.op === 'delete') {
    return ok(Object.fromEntries(Object.entries(value).filter(([name]) => name !== key)));
  }
  const next = applyStep(before, step, depth + 1, isOwn);
  return next.ok ? ok(withMember(value, key, next.value, isOwn)) : next;
}

function applyHere(value: Json, step: PatchStep, isOwn: boolean): Result<Json, string> {
  if (step.op === 'set') return ok(step.value);
  if (step.op === 'delete') return err('only a member of an object can be deleted');
  const { at, remove, insert } = step;
  if (typeof value === 'string' && typeof insert === 'string') {
    if (at + remove > value.length) return err('a splice reaches past the end of a text');
    return ok(value.slice(0, at) + insert + value.slice(at + remove));
  }
  if (isList(value) && typeof insert !== 'string') {
    if (at + remove > value.length) return err('a splice reaches past the end of a list');
    return ok(withSplice(value, at, remove, insert, isOwn));
  }
  return err('a splice fits neither the text nor the list');
}

function withItem(list: readonly Json[], index: number, item: Json, isOwn: boolean): readonly Json[] {
  if (!isOwn) return list.with(index, item);
  (list as Json[])[index] = item;
  return list;
}

function withMember(object: JsonObject, key: string, value: Json, isOwn: boolean): JsonObject {
  if (!isOwn) return { ...object, [key]: value };
  // Not an assignment: that would set the prototype for a member named __proto__.
  return Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function withSplice(
  list: readonly Json[],
  at: number,
  remove: number,
  insert: readonly Json[],
  isOwn: boolean,
): readonly Json[] {
  if (!isOwn || at + remove < list.length) return [...list.slice(0, at), ...insert, ...list.slice(at + remove)];
  const own = list as Json[];
  own.length = at;
  for (const item of insert) own.push(item);
  return own;
}

function areEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (left === undefined || right === undefined) return false;
  if (isList(left)) {
    return isList(right) && left.length === right.length && left.every((item, index) => areEqual(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left).filter(key => left[key] !== undefined);
  return (
    keys.length === Object.keys(right).filter(key => right[key] !== undefined).length &&
    keys.every(key => areEqual(left[key], member(right, key)))
  );
}

/** Whether a value's JSON is longer than `limit`; stops there. */
function takesMoreThan(value: Json, limit: number): boolean {
  let left = limit;
  const walk = (part: Json): void => {
    if (left < 0) return;
    if (typeof part === 'string') left -= part.length + 2;
    else if (typeof part !== 'object' || part === null) left -= String(part).length;
    else if (isList(part)) {
      left -= 2;
      for (const item of part) {
        walk(item);
        left -= 1;
        if (left < 0) return;
      }
    } else {
      left -= 2;
      for (const key in part) {
        left -= key.length + 4;
        walk(part[key] ?? null);
        if (left < 0) return;
      }
    }
  };
  walk(value);
  return left < 0;
}

function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff;
}
