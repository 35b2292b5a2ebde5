import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory, treeOf } from '../../test/builders.ts';
import { nodeHostFiles } from './host-files.ts';
import type { RestoreStep } from './restore-plan.ts';
import { firstUndoneStep, performSteps, undoSteps } from './restore-steps.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  fs.mkdirSync(`${directory.path}/staging`);
  fs.writeFileSync(`${directory.path}/staging/1`, 'staged');
  fs.writeFileSync(`${directory.path}/a`, 'old');
});
afterEach(() => directory.remove());

const place = () => ({ files: nodeHostFiles, root: directory.path, staging: `${directory.path}/staging` });
const steps: readonly RestoreStep[] = [
  { op: 'aside', path: 'a', as: 0 },
  { op: 'mkdir', path: 'new' },
  { op: 'place', path: 'new/b', from: 1, staged: true },
];

describe('restore steps', () => {
  it('[S15] are undone one by one, the last one first', () => {
    const before = treeOf(directory.path);
    expect(performSteps(place(), steps)).toEqual({ kind: 'done' });
    expect(fs.readFileSync(`${directory.path}/new/b`, 'utf8')).toBe('staged');
    expect(undoSteps(place(), steps, steps.length)).toEqual({ left: 0 });
    expect(treeOf(directory.path)).toEqual(before);
  });

  it('[S24] do not overwrite what appeared in their place', () => {
    fs.mkdirSync(`${directory.path}/new`);
    fs.writeFileSync(`${directory.path}/new/b`, 'by someone else');
    expect(performSteps(place(), steps)).toEqual({ kind: 'conflict', path: 'new/b', done: 2 });
    expect(fs.readFileSync(`${directory.path}/new/b`, 'utf8')).toBe('by someone else');
    fs.rmSync(`${directory.path}/new`, { recursive: true });
    fs.writeFileSync(`${directory.path}/new`, 'by someone else');
    expect(performSteps(place(), steps, { from: 1 })).toEqual({ kind: 'conflict', path: 'new', done: 1 });
    const skipped: string[] = [];
    expect(performSteps(place(), steps, { from: 1, skipped })).toEqual({ kind: 'done' });
    expect([skipped, fs.readFileSync(`${directory.path}/new`, 'utf8')]).toEqual([['new'], 'by someone else']);
  });

  it('[S28] tell by what is staged how far a process that died had come', () => {
    const reached = [firstUndoneStep(place(), steps)];
    for (let done = 0; done < steps.length; done++) {
      performSteps(place(), steps.slice(0, done + 1), { from: done });
      reached.push(firstUndoneStep(place(), steps));
    }
    // Making a directory leaves no mark, and can be done twice.
    expect(reached).toEqual([0, 1, 1, 3]);
  });
});
