// Owners of a data directory, one after the other, in processes that are killed.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { openReader } from '@signalbox/store';
import { type RunningChild, startChild } from '@signalbox/testkit';
import { afterAll } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { thisMachine } from '../../src/machine.ts';
import { verifyRunReplay } from '../../src/replay/verify-replay.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from './until.ts';

const child = childScript(import.meta.dirname, 'owner-child.ts');

/** When an owner kills itself: `before:3` is before its third commit. */
export type Kill = 'never' | `${'before' | 'after'}:${number}`;

/** Starts and kills owners for a test file. Any that are left running are killed when the file is done. */
export function ownerLives() {
  const home = temporaryFolder();
  const living = new Set<RunningChild>();
  afterAll(() => {
    for (const { kill } of living) kill();
  });
  let folders = 0;
  const lives = {
    /**
     * A folder with a plan whose one task goes on until the file `go` is there, and leaves a line whenever it begins. In
     * `outside.tsx` the same task has effects outside.
     */
    newFolder(): string {
      folders += 1;
      const folder = path.join(home, String(folders));
      mkdirSync(folder);
      writeFileSync(path.join(folder, 'long.tsx'), LONG);
      writeFileSync(
        path.join(folder, 'outside.tsx'),
        LONG.replace('id="long"', 'id="long" effects="external" input="v7"'),
      );
      return folder;
    },
    owner(folder: string, kill: Kill, ...how: readonly (string | number)[]): RunningChild {
      const running = startChild(child, folder, kill, ...how);
      living.add(running);
      void running.ended.then(() => living.delete(running));
      return running;
    },
    /** Kills an owner once so many pieces of work have begun in all. */
    async killAfter(folder: string, owner: RunningChild, count: number): Promise<void> {
      await until(() => (linesOf(folder, 'begun').length >= count ? true : undefined));
      owner.kill();
      await owner.ended;
    },
  };
  return lives;
}

const LONG = `
import { appendFileSync, existsSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'long',
  input: z.object({ folder: z.string() }),
  state: z.object({ result: z.any().optional() }),
  render: ctx => (
    <Task id="long" onFinished={result => ctx.state.set('result', result)} run={async ({ attempt }) => {
      appendFileSync(ctx.input.folder + '/begun', attempt + '\\n');
      while (!existsSync(ctx.input.folder + '/go')) await new Promise(resolve => setTimeout(resolve, 50));
      return 'done';
    }} />
  ),
});
`;

/** The lines that were written to their end. */
export function linesOf(folder: string, name: string): readonly string[] {
  const file = path.join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

export function readerOf(folder: string) {
  const reader = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!reader.ok) throw new Bug(reader.error.message);
  return reader.value;
}

export async function openDecision(folder: string, run: RunId): Promise<Decision | undefined> {
  const reader = readerOf(folder);
  const [open] = await reader.decisions({ run, status: ['open'] });
  reader.close();
  return open?.decision;
}

export async function isVerified(folder: string, run: RunId): Promise<boolean> {
  const verdict = await verifyRunReplay(path.join(folder, 'data'), run, { machine: thisMachine() });
  return verdict.ok && verdict.value.ok;
}
