import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accessToken } from '@signalbox/app';
import { openHome, type RunId, thisMachine } from '@signalbox/app/runs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownSurface } from '../src/surface/own-surface.ts';
import { remoteSurface } from '../src/surface/remote-surface.ts';
import type { RunSurface } from '../src/surface/run-surface.ts';

const plan = `
import { definePlan, Human, Phase, Step, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'ask',
  input: z.any(),
  state: z.object({ n: z.number().default(0) }),
  render: ctx => (
    <Phase name="all">
      <Step><Task id="one" run={() => 1} onFinished={() => ctx.state.set('n', 1)} /></Step>
      <Step><Human id="ask" prompt="Go?" /></Step>
    </Phase>
  ),
});`;

const value = <T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

/** One data directory, asked by its owner and by another process's surface. */
async function surfaces() {
  const folder = mkdtempSync(path.join(tmpdir(), 'forks-'));
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const home = value(await openHome({ dataDirectory, machine, env: {}, threads: { threads: 1 } }));
  const own = ownSurface(home, dataDirectory, machine);
  const url = value(await own.listen()) ?? '';
  const remote = value(remoteSurface(dataDirectory, { url, token: value(accessToken(dataDirectory, machine)).token }));
  onTestFinished(async () => {
    await remote.close();
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, plan);
  const run = value(await own.start({ file, input: {} }));
  await own.rested(run);
  return { folder, surfaces: [own, remote], run };
}

describe('forks and interventions', () => {
  it('[V60] [V61] [X7] do the same whether this process owns the data directory or another one does', async () => {
    const { folder, surfaces: both, run } = await surfaces();
    const picture = async (surface: RunSurface) => {
      const { reader } = surface;
      const stateOf = async (id: RunId) =>
        Object.fromEntries(await reader.at(id, 'state', (await reader.run(id))?.frames ?? 0));
      const directory = path.join(folder, surface.isOwner ? 'own' : 'remote');
      const fork = value(
        await surface.fork(run, { at: { kind: 'frame', frame: 0 }, name: 'f', paused: true, directory }),
      );
      value(await surface.act(fork, { kind: 'edit', key: 'n', value: 6, reason: 'a test' }));
      value(await surface.act(fork, { kind: 'edit', key: 'n', op: 'increment', value: 1, reason: 'a test' }));
      const rerun = { at: { kind: 'node', node: 'ask' }, input: { a: 1 }, paused: true } as const;
      const asked = await surface.fork(run, rerun);
      const again = value(await surface.fork(run, { ...rerun, confirmed: true }));
      const refusals = [
        asked,
        await surface.act(fork, { kind: 'edit', key: 'n', value: 'x', reason: 'no' }),
        await surface.act(run, { kind: 'reset', node: 'one' }),
        await surface.act(run, { kind: 'retry', node: 'nowhere', policy: { retries: 1 } }),
        await surface.undo(run, 'x', { dryRun: true }),
        await surface.rollback(run, { call: 'x', dryRun: true }),
        await surface.fork(run, { at: { kind: 'frame', frame: 99 } }),
        await surface.fork(run, { at: { kind: 'call', call: 'x', after: true } }),
      ];
      await surface.rested(run);
      const record = await reader.run(fork);
      return {
        name: record?.name,
        status: record?.status,
        isInPlace: record?.workingDirectory === directory,
        origin: record?.origin,
        state: await stateOf(fork),
        input: (await reader.run(again))?.input,
        checkpoints: value(await surface.checkpoints(run)),
        refusals: refusals.map(refusal => (refusal.ok ? 'done' : refusal.error.code)),
      };
    };
    const [own, remote] = [await picture(both[0] as RunSurface), await picture(both[1] as RunSurface)];
    expect(own).toMatchObject({
      name: 'f',
      status: 'paused',
      isInPlace: true,
      origin: { kind: 'fork', run, frame: 0 },
      state: { n: 7 },
      input: { a: 1 },
      checkpoints: [],
      refusals: [
        'run/unconfirmed',
        'plan/state-invalid',
        'run/no-effect',
        'run/node-unknown',
        'state/checkpoint-unknown',
        'state/checkpoint-unknown',
        'run/frame-unknown',
        'state/checkpoint-unknown',
      ],
    });
    expect(remote).toEqual(own);
  });

  it('[V175] [A216] a run is rolled back over HTTP as by its owner', async () => {
    const { folder, surfaces: both } = await surfaces();
    const picture = async (surface: RunSurface) => {
      const place = path.join(folder, surface.isOwner ? 'own' : 'remote');
      cpSync(new URL('../../../examples/08-undo-an-edit', import.meta.url), place, { recursive: true });
      const notes = path.join(place, 'project', 'notes.txt');
      const before = readFileSync(notes, 'utf8');
      const run = value(await surface.start({ file: path.join(place, 'plan.tsx'), input: {} }));
      await surface.rested(run);
      const [, second] = value(await surface.checkpoints(run));
      const call = second?.call ?? '';
      const after = readFileSync(notes, 'utf8');
      writeFileSync(notes, 'mine');
      const refused = await surface.rollback(run, { call });
      writeFileSync(notes, after);
      const planned = value(await surface.rollback(run, { call, dryRun: true }));
      const isKept = readFileSync(notes, 'utf8') === after;
      const { run: fork, ...done } = value(await surface.rollback(run, { call, paused: true }));
      return {
        refused: refused.ok ? 'done' : refused.error.code,
        isKept,
        isSame: JSON.stringify(planned) === JSON.stringify(done),
        paths: done.paths,
        isBack: readFileSync(notes, 'utf8') === before && before !== after,
        fork: (await surface.reader.run(fork as RunId))?.status,
      };
    };
    for (const surface of both) {
      expect(await picture(surface)).toEqual({
        refused: 'state/conflict',
        isKept: true,
        isSame: true,
        paths: ['project/notes.txt'],
        isBack: true,
        fork: 'paused',
      });
    }
  });
});
