import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accessToken } from '@signalbox/app';
import { openHome, type RunId, thisMachine } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../src/main.ts';
import { localOwner } from '../src/owner/local-owner.ts';
import { remoteOwner } from '../src/owner/remote-owner.ts';
import type { RunOwner } from '../src/owner/run-owner.ts';
import { memoryTerminal } from './memory-terminal.ts';

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

/** One data directory, asked by its owner and by another process. */
async function owners() {
  const folder = mkdtempSync(path.join(tmpdir(), 'forks-'));
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const home = value(await openHome({ dataDirectory, machine, env: {}, threads: { threads: 1 } }));
  const own = localOwner(home, dataDirectory, machine);
  const url = value(await own.listen()) ?? '';
  const remote = value(remoteOwner(dataDirectory, { url, token: value(accessToken(dataDirectory, machine)).token }));
  onTestFinished(async () => {
    await remote.close();
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, plan);
  const run = value(await own.start({ file, input: {} }));
  await own.rested(run);
  return { folder, dataDirectory, url, owners: [own, remote], run };
}

describe('forks and interventions', () => {
  it('[V60] [V61] [X7] do the same whether this process owns the data directory or another one does', async () => {
    const { folder, owners: both, run } = await owners();
    const picture = async (owner: RunOwner) => {
      const { reader } = owner;
      const stateOf = async (id: RunId) =>
        Object.fromEntries(await reader.at(id, 'state', (await reader.run(id))?.frames ?? 0));
      const directory = path.join(folder, owner.isLocal ? 'own' : 'remote');
      const fork = value(
        await owner.fork(run, { at: { kind: 'frame', frame: 0 }, name: 'f', paused: true, directory }),
      );
      value(await owner.act(fork, { kind: 'edit', key: 'n', value: 6, reason: 'a test' }));
      value(await owner.act(fork, { kind: 'edit', key: 'n', op: 'increment', value: 1, reason: 'a test' }));
      const rerun = { at: { kind: 'node', node: 'ask' }, input: { a: 1 }, paused: true } as const;
      const asked = await owner.fork(run, rerun);
      const again = value(await owner.fork(run, { ...rerun, confirmed: true }));
      const refusals = [
        asked,
        await owner.act(fork, { kind: 'edit', key: 'n', value: 'x', reason: 'no' }),
        await owner.act(run, { kind: 'reset', node: 'one' }),
        await owner.act(run, { kind: 'retry', node: 'nowhere', policy: { retries: 1 } }),
        await owner.undo(run, 'x', { dryRun: true }),
        await owner.rollback(run, { call: 'x', dryRun: true }),
        await owner.fork(run, { at: { kind: 'frame', frame: 99 } }),
        await owner.fork(run, { at: { kind: 'call', call: 'x', after: true } }),
      ];
      await owner.rested(run);
      const record = await reader.run(fork);
      return {
        name: record?.name,
        status: record?.status,
        isInPlace: record?.workingDirectory === directory,
        origin: record?.origin,
        state: await stateOf(fork),
        input: (await reader.run(again))?.input,
        checkpoints: value(await owner.checkpoints(run)),
        refusals: refusals.map(refusal => (refusal.ok ? 'done' : refusal.error.code)),
      };
    };
    const [own, remote] = [await picture(both[0] as RunOwner), await picture(both[1] as RunOwner)];
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

  it('[A919] name the calls before them that were undone, on the terminal, in its JSON and over REST', async () => {
    const { folder, dataDirectory, url, owners: both } = await owners();
    const own = both.find(({ isLocal }) => isLocal);
    if (own === undefined) throw new Error('nobody owns it');
    const place = path.join(folder, 'tidy');
    cpSync(new URL('../../../examples/08-undo-an-edit', import.meta.url), place, { recursive: true });
    const run = value(await own.start({ file: path.join(place, 'plan.tsx'), input: {} }));
    await own.rested(run);
    const [first, second] = value(await own.checkpoints(run)).map(({ call }) => call);
    if (first === undefined || second === undefined) throw new Error('it made no two calls');
    const fork = async (...args: readonly string[]) => {
      const terminal = memoryTerminal();
      await main(['fork', run, '--paused', '--data-dir', dataDirectory, ...args], terminal);
      return [...terminal.printed, ...terminal.complaints].join('\n');
    };
    const asked = async (at: object) => {
      const token = readFileSync(path.join(dataDirectory, 'token'), 'utf8');
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ ...at, paused: true });
      return (await fetch(`${url}/api/runs/${run}/fork`, { method: 'POST', headers, body })).json();
    };
    expect(await asked({ call: second })).toMatchObject({ leftOut: [] });
    value(await own.undo(run, first, {}));
    expect(await asked({ call: second })).toMatchObject({ leftOut: [first] });
    expect(await asked({ call: first })).toMatchObject({ leftOut: [] });
    expect(await asked({ call: first, after: true })).toMatchObject({ leftOut: [first] });
    expect(await asked({ frame: 0 })).toMatchObject({ leftOut: [] });
    const last = ((await own.reader.run(run))?.frames ?? 0) - 1;
    expect(await asked({ frame: last })).toMatchObject({ leftOut: [first] });
    const words = `Its files are without the changes of ${first}, which was undone; its agents remember it as done.`;
    expect(await fork('--call', second)).toContain(words);
    expect(await fork('--call', first)).not.toContain('which was undone');
    expect(JSON.parse(await fork('--call', second, '--json'))).toMatchObject({ status: 'paused', leftOut: [first] });
  });

  it('[V175] [A216] a run is rolled back over HTTP as by its owner', async () => {
    const { folder, owners: both } = await owners();
    const picture = async (owner: RunOwner) => {
      const place = path.join(folder, owner.isLocal ? 'own' : 'remote');
      cpSync(new URL('../../../examples/08-undo-an-edit', import.meta.url), place, { recursive: true });
      const notes = path.join(place, 'project', 'notes.txt');
      const before = readFileSync(notes, 'utf8');
      const run = value(await owner.start({ file: path.join(place, 'plan.tsx'), input: {} }));
      await owner.rested(run);
      const [, second] = value(await owner.checkpoints(run));
      const call = second?.call ?? '';
      const after = readFileSync(notes, 'utf8');
      writeFileSync(notes, 'mine');
      const refused = await owner.rollback(run, { call });
      writeFileSync(notes, after);
      const planned = value(await owner.rollback(run, { call, dryRun: true }));
      const isKept = readFileSync(notes, 'utf8') === after;
      const { run: fork, ...done } = value(await owner.rollback(run, { call, paused: true }));
      return {
        refused: refused.ok ? 'done' : refused.error.code,
        isKept,
        isSame: JSON.stringify(planned) === JSON.stringify(done),
        paths: done.paths,
        isBack: readFileSync(notes, 'utf8') === before && before !== after,
        fork: (await owner.reader.run(fork as RunId))?.status,
      };
    };
    for (const owner of both) {
      expect(await picture(owner)).toEqual({
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
