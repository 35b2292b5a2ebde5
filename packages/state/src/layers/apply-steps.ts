/**
 * The steps that apply a change set, in an order in which each can be done and, from the last one back, undone.
 *
 * 1. A step is a rename, a link, a `mkdir` or a mode change: it needs no space, and replaced entries wait next to the layer.
 * 2. A replaced file is never lost: its old inode gets another name first, so that later writes through an open descriptor can
 *    still be found.
 * 3. The disk shows whether a step was done.
 */

import * as fs from 'node:fs';
import * as z from 'zod';
import { parentOf } from '../filesystem/closed-paths.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { osPath } from '../filesystem/path-name.ts';
import { attributes } from '../filesystem/restore-plan.ts';
import { setAttributes } from '../filesystem/restore-steps.ts';
import { attributesOf } from '../filesystem/tree.ts';
import { filesInUse } from './files-in-use.ts';
import { type Identity, identity, identityOf, isSame, type LayerChange, sameAttributesOf } from './layer-change.ts';

export const applyStep = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('aside'), path: z.string(), as: z.string(), was: identity }),
  z.strictObject({ op: z.literal('mkdir'), path: z.string() }),
  z.strictObject({
    op: z.literal('put'),
    path: z.string(),
    from: z.string(),
    now: identity,
    /** What it replaces, and where that is kept. */
    was: identity.nullable(),
    as: z.string(),
  }),
  z.strictObject({ op: z.literal('attributes'), path: z.string(), set: attributes, was: attributes }),
]);
export type ApplyStep = Readonly<z.infer<typeof applyStep>>;

/** Where steps are carried out. `from` and `as` are relative to `staging`, which is on the root's filesystem. */
export interface ApplyPlace {
  readonly files: HostFiles;
  readonly root: string;
  readonly staging: string;
}

/**
 * `from` locates a change's new entry in the staging directory; `modeOf` returns the current mode of a directory in the root.
 */
export function planSteps(
  changes: readonly LayerChange[],
  from: (path: string) => string,
  modeOf: (directory: string) => Attributes | undefined,
): readonly ApplyStep[] {
  const opened = new Map<string, { readonly set: Attributes; readonly was: Attributes }>();
  const made = new Set<string>();
  const finals: ApplyStep[] = [];
  const steps: ApplyStep[] = [];
  let next = 0;
  const open = (directory: string, needed = 0o300) => {
    if (directory !== '') open(parentOf(directory), 0o100);
    const was = made.has(directory) ? undefined : modeOf(directory);
    if (was !== undefined && (was.mode & needed) !== needed) {
      opened.set(directory, { set: { ...was, mode: was.mode | 0o700 }, was });
    }
  };
  for (const change of changes) {
    const { path } = change;
    switch (change.op) {
      case 'remove':
        open(parentOf(path));
        // A directory that moves to another one must itself be writable.
        if (change.was.kind === 'directory') open(path);
        steps.push({ op: 'aside', path, as: `before-${next++}`, was: change.was });
        break;
      case 'make':
        open(parentOf(path));
        steps.push({ op: 'mkdir', path });
        made.add(path);
        finals.push({ op: 'attributes', path, set: attributesOf(change.now), was: MADE });
        break;
      case 'put':
        open(parentOf(path));
        steps.push({ op: 'put', path, from: from(path), now: change.now, was: change.was, as: `before-${next++}` });
        break;
      case 'attributes': {
        const { now, was } = change;
        finals.push({ op: 'attributes', path, set: attributesOf(now), was: attributesOf(was) });
        break;
      }
    }
  }
  const openings = [...opened].map(([path, { set, was }]): ApplyStep => ({ op: 'attributes', path, set, was }));
  const given = new Set(finals.map(({ path }) => path));
  const gone = new Set(steps.filter(({ op }) => op === 'aside').map(({ path }) => path));
  const closings = [...opened]
    .filter(([path]) => !given.has(path) && !gone.has(path))
    .map(([path, { set, was }]): ApplyStep => ({ op: 'attributes', path, set: was, was: set }));
  // Entries are reached through their parents.
  const lasts = [...finals, ...closings].sort((a, b) => (a.path < b.path ? 1 : -1));
  return [...openings.sort((a, b) => (a.path < b.path ? -1 : 1)), ...steps, ...lasts];
}

/** The mode of a directory that was just created; it is never restored. */
const MADE: Attributes = { mode: 0o700, uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };

export type ApplyOutcome =
  | { readonly kind: 'done' }
  /** `done` steps have been done and not undone. */
  | { readonly kind: 'changed'; readonly path: string; readonly done: number }
  | { readonly kind: 'failed'; readonly path: string; readonly done: number; readonly cause: unknown };

/** Carries out steps from a given one on. Stops before one whose path has changed since it was checked. */
export function performApply(place: ApplyPlace, steps: readonly ApplyStep[], from = 0): ApplyOutcome {
  for (let index = from; index < steps.length; index++) {
    const step = steps[index] as ApplyStep;
    try {
      if (!perform(place, step)) return { kind: 'changed', path: step.path, done: index };
    } catch (cause) {
      return { kind: 'failed', path: step.path, done: index, cause };
    }
  }
  return { kind: 'done' };
}

/**
 * Reverts completed steps, last one first; safe to call again if the process dies meanwhile. A path that somebody changed
 * since, or that a program has open for writing, is left alone and returned.
 */
export function takeBackApply(place: ApplyPlace, steps: readonly ApplyStep[], done: number): readonly string[] {
  const left: string[] = [];
  const put = steps.slice(0, done).filter(step => step.op === 'put' && isUntouched(place, step));
  const inUse = new Set(
    filesInUse(
      place.root,
      put.map(({ path }) => path),
    ).map(({ path }) => path),
  );
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index] as ApplyStep;
    if (inUse.has(step.path) || !takeBack(place, step, index < done)) left.push(step.path);
  }
  return left;
}

/**
 * How many steps a dead process has done, before they are reverted: steps are done in order, and most leave a mark.
 * Reverts the attributes that come last.
 */
export function stepsDone(place: ApplyPlace, steps: readonly ApplyStep[]): number {
  // An entry with its final attributes may not be readable.
  for (const step of steps.slice(steps.findLastIndex(({ op }) => op !== 'attributes') + 1).toReversed()) {
    takeBack(place, step, true);
  }
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index] as ApplyStep;
    if (step.op === 'aside' && at(`${place.staging}/${step.as}`) !== undefined) return index + 1;
    if (step.op === 'put' && at(`${place.staging}/${step.from}`) === undefined) return index + 1;
    if (step.op === 'put' && isUntouched(place, step)) return index + 1;
    if (step.op === 'mkdir' && at(pathIn(place, step.path))?.kind === 'directory') return index + 1;
  }
  return 0;
}

/** Whether a step's result is unchanged. */
function isUntouched(place: ApplyPlace, step: ApplyStep): boolean {
  const there = at(pathIn(place, step.path));
  switch (step.op) {
    case 'put':
      return there !== undefined && isSame(there, step.now);
    case 'aside':
      return there === undefined;
    case 'mkdir':
      return there?.kind === 'directory';
    case 'attributes':
      return true;
  }
}

function perform(place: ApplyPlace, step: ApplyStep): boolean {
  const { files, staging } = place;
  const path = pathIn(place, step.path);
  const there = at(path);
  switch (step.op) {
    case 'aside':
      if (there === undefined || !isSame(there, step.was)) return false;
      files.rename(path, `${staging}/${step.as}`);
      return true;
    case 'mkdir':
      if (there !== undefined) return false;
      files.mkdir(path, 0o700);
      return true;
    case 'put':
      if (step.was === null ? there !== undefined : !keepsInode(place, step, path, step.was)) return false;
      files.rename(`${staging}/${step.from}`, path);
      return true;
    case 'attributes':
      setAttributes(files, path, step.set);
      return true;
  }
}

/** Links the entry to be replaced under another name, and returns whether it is the one that was checked. */
function keepsInode({ files, staging }: ApplyPlace, step: ApplyStep & { op: 'put' }, path: string, was: Identity) {
  const as = `${staging}/${step.as}`;
  if (at(as) === undefined) linkOrMove(files, path, as);
  const kept = at(as);
  const there = at(path);
  return kept !== undefined && isSame(kept, was) && (there === undefined || isSame(there, was));
}

function linkOrMove(files: HostFiles, from: string, to: string): void {
  try {
    files.link(from, to);
  } catch (cause) {
    if (!CANNOT_LINK.has(String((cause as NodeJS.ErrnoException).code))) throw cause;
    files.rename(from, to);
  }
}

/** Errors of filesystems without hard links, and of systems that forbid linking other users' files. */
const CANNOT_LINK: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP']);

function takeBack(place: ApplyPlace, step: ApplyStep, wasDone: boolean): boolean {
  const { files, staging } = place;
  const path = pathIn(place, step.path);
  const there = at(path);
  switch (step.op) {
    case 'aside': {
      const as = `${staging}/${step.as}`;
      if (at(as) === undefined) return true;
      if (there !== undefined) return false;
      files.rename(as, path);
      return true;
    }
    case 'mkdir':
      if (!wasDone || there === undefined) return true;
      try {
        files.rmdir(path);
        return true;
      } catch {
        return false;
      }
    case 'put': {
      const [from, as] = [`${staging}/${step.from}`, `${staging}/${step.as}`];
      const isOurs = there !== undefined && isSame(there, step.now);
      if (isOurs && step.was === null) files.rename(path, from);
      else if ((isOurs || there === undefined) && step.was !== null && at(as) !== undefined) {
        // The layer keeps its own entries.
        if (isOurs && at(from) === undefined) linkOrMove(files, path, from);
        files.rename(as, path);
      } else return !wasDone || (there !== undefined && step.was !== null && isSame(there, step.was));
      return true;
    }
    case 'attributes': {
      const isAsSet = there !== undefined && sameAttributesOf(there, { ...there, ...step.set });
      if (isAsSet) setAttributes(files, path, step.was);
      return true;
    }
  }
}

export type Attributes = Readonly<z.infer<typeof attributes>>;

export function pathIn({ root }: Pick<ApplyPlace, 'root'>, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

export function at(path: string): Identity | undefined {
  try {
    const stat = fs.lstatSync(osPath(path), { bigint: true, throwIfNoEntry: false });
    return stat && identityOf(stat);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw cause;
  }
}
