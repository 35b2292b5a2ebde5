import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { type HeldChoice, nodeHostFiles, settleHeldCall, type ToolOutcome, undoCall } from '../src/index.ts';
import { temporaryDirectory } from './builders.ts';
import { commandTool, hasLayers, openLayered } from './layered.ts';
import { createDice, createPerson, disturbed, layerScript, plantTree, tokensUnder } from './person-and-command.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const SEEDS = sized(32, 32, 640);
/** Seeds beside each other mostly end alike: every third of them meets every end. */
const APART = sized(3, 1, 1);
const ENDINGS = [
  'succeed',
  'succeed',
  'succeed',
  'fail',
  'timeout',
  'cancel',
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGKILL',
] as const;
const CHOICES: readonly HeldChoice[] = ['apply-rest', 'apply-all', 'drop'];

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

/** One command on a layer and one person in one directory. Answers what the person wrote and can find nowhere. */
async function interleave(
  seed: number,
  holding: (() => void)[],
): Promise<{ readonly lost: readonly string[]; readonly told: unknown }> {
  const dice = createDice(seed);
  const ending = ENDINGS[dice(ENDINGS.length)] as (typeof ENDINGS)[number];
  const here = `${fs.realpathSync(directory.path)}/${seed}`;
  const root = `${here}/root`;
  plantTree(root);
  fs.writeFileSync(`${root}/.go`, '');
  const steps = 1 + dice(4);
  const script = layerScript(dice, { steps, exitCode: ending === 'succeed' ? 0 : ending === 'fail' ? 3 : null });
  const person = createPerson(root, dice, script.paths);
  const due = createDice(seed + 1_000_000);
  const isHolding = seed % 2 === 0;
  if (isHolding) person.holdOpen();
  holding.push(() => person.letGo());
  let isDisturbing = false;
  const files = disturbed(nodeHostFiles, person.act, () => isDisturbing && due(6) === 0);
  const place = await openLayered(here, { files });
  const layers = `${place.data}/layers`;
  let isOver = false;
  /** The command goes on by one step, and the person acts after it. */
  const drive = async () => {
    for (let step = 0; step < steps && !isOver; step++) {
      fs.appendFileSync(`${root}/.go`, 'x');
      const isDone = () => fs.readdirSync(layers).some(id => fs.existsSync(`${layers}/${id}/upper/.done-${step}`));
      while (!isOver && !isDone()) await setTimeout(1);
      for (let times = dice(3); times > 0; times--) person.act();
      if (seed % 4 === 0) person.writeToHeld();
    }
  };
  const lost = () => {
    person.writeToHeld();
    const there = tokensUnder(root);
    return [...person.written].filter(token => !there.has(token));
  };
  if (ending.startsWith('SIG')) {
    const owner = spawn(
      process.execPath,
      [childScript(import.meta.dirname, 'layer-owner-child.ts'), here, script.text],
      {
        stdio: 'ignore',
      },
    );
    const exited = once(owner, 'exit').then(() => {
      isOver = true;
    });
    await drive();
    owner.kill(ending as NodeJS.Signals);
    await exited;
    person.act();
    isDisturbing = true;
    const recoveries = await place.recover();
    isDisturbing = false;
    expect(recoveries).toEqual([]);
    return { lost: lost(), told: recoveries };
  }
  const aborter = new AbortController();
  const timeoutMs = ending === 'timeout' ? 500 : 3_600_000;
  const running = place.run(script.text, { signal: aborter.signal, timeoutMs });
  void running.then(() => {
    isOver = true;
  });
  await drive();
  isDisturbing = dice(2) === 0;
  if (ending === 'cancel') aborter.abort();
  fs.appendFileSync(`${root}/.go`, 'x');
  const outcome: ToolOutcome = await running;
  isDisturbing = false;
  if (ending !== 'succeed') expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
  const isHeld = outcome.status === 'failed' && outcome.rollback.kind === 'held';
  const told = { ending, outcome };
  if (lost().length > 0) return { lost: lost(), told };
  if (isHeld) {
    const choice = CHOICES[dice(CHOICES.length)] as HeldChoice;
    isDisturbing = dice(2) === 0;
    const { state, locks } = place;
    const settled = await settleHeldCall({ state, locks, tool: commandTool, callId: 'call-1', choice });
    isDisturbing = false;
    // Whoever is replaced on purpose is in the checkpoint of the call, and undoing it brings them back.
    if (choice === 'apply-all') person.letGo();
    else if (lost().length > 0) return { lost: lost(), told: { ...told, choice, settled } };
  }
  const checkpoint = place.checkpoints.get('call-1');
  if (checkpoint !== undefined && checkpoint.post !== null) {
    if (dice(2) === 0) person.act();
    const undone = await undoCall({ files: place.files, checkpoint, locks: place.locks });
    if (undone.ok && lost().length > 0) return { lost: lost(), told: { ...told, undone } };
  }
  return { lost: [], told };
}

async function interleaveAndLetGo(seed: number): ReturnType<typeof interleave> {
  const holding: (() => void)[] = [];
  try {
    return await interleave(seed, holding);
  } finally {
    for (const letGo of holding) letGo();
  }
}

describe.skipIf(!hasLayers)('a person and a command on a layer', () => {
  it('[S71] [S73] [S74] [S352] in one directory: nothing that the person wrote is lost, however the command ends', async () => {
    const hurt: unknown[] = [];
    const ends: Record<string, number> = {};
    for (let seed = 1; seed <= SEEDS; seed += APART) {
      const { lost, told } = await interleaveAndLetGo(seed);
      if (lost.length > 0) hurt.push({ seed, lost, told: JSON.stringify(told).slice(0, 2000) });
      const { outcome } = told as { outcome?: ToolOutcome };
      const end = outcome?.status === 'failed' ? outcome.rollback.kind : (outcome?.status ?? 'killed');
      ends[end] = (ends[end] ?? 0) + 1;
    }
    expect(hurt).toEqual([]);
    const wanted = SOAK ? ['dropped', 'held', 'killed', 'succeeded'] : ['dropped', 'held', 'killed'];
    expect(Object.keys(ends)).toEqual(expect.arrayContaining(wanted));
  });
});
