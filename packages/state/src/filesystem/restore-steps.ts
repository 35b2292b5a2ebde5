import * as fs from 'node:fs';
import type { HostFiles } from './host-files.ts';
import { osPath } from './path-name.ts';
import type { RestoreStep } from './restore-plan.ts';
import type { Attributes } from './tree.ts';

/** Where steps are carried out. */
export interface StepPlace {
  readonly files: HostFiles;
  readonly root: string;
  readonly staging: string;
}

export type StepsOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict'; readonly path: string; readonly done: number }
  | { readonly kind: 'failed'; readonly path: string; readonly done: number; readonly cause: unknown };

/** Which steps to carry out, and what to do about a conflict. */
export interface StepRange {
  readonly from?: number;
  readonly to?: number;
  /** Collects paths of steps skipped because somebody else created something there; without it they are conflicts. */
  readonly skipped?: string[] | undefined;
}

/** Carries out steps from a given one on. Never overwrites anything that has appeared at a path since. */
export function performSteps(
  place: StepPlace,
  steps: readonly RestoreStep[],
  { from = 0, to = steps.length, skipped }: StepRange = {},
): StepsOutcome {
  for (let index = from; index < to; index++) {
    const step = steps[index] as RestoreStep;
    try {
      if (skipped?.some(path => step.path.startsWith(`${path}/`))) continue;
      if (performStep(place, step)) continue;
      if (skipped !== undefined) skipped.push(step.path);
      else return { kind: 'conflict', path: step.path, done: index };
    } catch (cause) {
      return { kind: 'failed', path: step.path, done: index, cause };
    }
  }
  return { kind: 'done' };
}

/** Undoes the first `done` steps, last one first. Returns how many are still done: 0 on success. */
export function undoSteps(
  place: StepPlace,
  steps: readonly RestoreStep[],
  done: number,
): { left: number; cause?: unknown } {
  for (let index = done - 1; index >= 0; index--) {
    const step = steps[index] as RestoreStep;
    try {
      undoStep(place, step);
    } catch (cause) {
      return { left: index + 1, cause };
    }
  }
  return { left: 0 };
}

/**
 * The first step that a dead process has not done. Steps are done in order, so the last one with a mark in the staging
 * directory implies all before it.
 */
export function firstUndoneStep(place: StepPlace, steps: readonly RestoreStep[]): number {
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index] as RestoreStep;
    if (step.op === 'aside' && exists(`${place.staging}/${step.as}`)) return index + 1;
    if (step.op === 'place' && step.staged && !exists(`${place.staging}/${step.from}`)) return index + 1;
  }
  return 0;
}

function performStep({ files, root, staging }: StepPlace, step: RestoreStep): boolean {
  const path = step.path === '' ? root : `${root}/${step.path}`;
  switch (step.op) {
    case 'aside':
      if (exists(path)) files.rename(path, `${staging}/${step.as}`);
      return true;
    case 'mkdir': {
      const there = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
      if (there === undefined) files.mkdir(path, 0o700);
      return there === undefined || there.isDirectory();
    }
    case 'place': {
      const from = `${staging}/${step.from}`;
      if (!exists(from)) return exists(path);
      if (exists(path)) return false;
      files.rename(from, path);
      return true;
    }
    case 'attributes':
      // It was removed since.
      if (exists(path)) setAttributes(files, path, step.set);
      return true;
  }
}

function undoStep({ files, root, staging }: StepPlace, step: RestoreStep): void {
  const path = step.path === '' ? root : `${root}/${step.path}`;
  switch (step.op) {
    case 'aside':
      if (exists(`${staging}/${step.as}`)) files.rename(`${staging}/${step.as}`, path);
      return;
    case 'mkdir':
      files.rmdir(path);
      return;
    case 'place':
      files.rename(path, `${staging}/${step.from}`);
      return;
    case 'attributes':
      setAttributes(files, path, step.was);
      return;
  }
}

/**
 * The owner first: changing it can drop mode bits. Only root can give files away; otherwise a restored file becomes ours.
 */
export function setAttributes(files: HostFiles, path: string, { mode, uid, gid }: Attributes): void {
  const stat = fs.lstatSync(osPath(path));
  if (stat.uid !== uid || stat.gid !== gid) giveAway(files, path, uid, gid);
  files.chmod(path, mode);
}

function giveAway(files: HostFiles, path: string, uid: number, gid: number): void {
  try {
    files.chown(path, uid, gid);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause;
  }
}

export function exists(path: string): boolean {
  return fs.lstatSync(osPath(path), { throwIfNoEntry: false }) !== undefined;
}
