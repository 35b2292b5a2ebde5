import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import {
  type ContentStore,
  createPathLocks,
  createRunCommand,
  type DirectoryNode,
  type KeptFiles,
  loadTree,
  nodeHostFiles,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  recoverPending,
} from '../src/index.ts';
import { createTestRunner, createTestState, must, temporaryDirectory } from './builders.ts';
import {
  commandScript,
  createDice,
  createPerson,
  disturbed,
  plantTree,
  tokensIn,
  tokensUnder,
} from './person-and-command.ts';

const SEEDS = sized(36, 36, 640);
/** Seeds beside each other mostly end alike: every third of them meets every end. */
const APART = sized(3, 1, 1);
const ENDINGS = ['succeed', 'fail', 'fail', 'timeout', 'cancel', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

async function keptTokens(store: ContentStore, kept: KeptFiles | null | undefined): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const walk = async (tree: DirectoryNode) => {
    for (const node of tree.entries.values()) {
      if (node.kind === 'directory') await walk(node);
      if (node.kind !== 'file' || node.digest === null) continue;
      for (const token of tokensIn(Buffer.from(must(await store.get(node.digest))).toString())) found.add(token);
    }
  };
  if (kept) await walk(must(await loadTree(store, kept.digest)));
  return found;
}

/** One command and one person in one directory. Answers what the person wrote and can find nowhere. */
async function interleave(seed: number): Promise<{ readonly lost: readonly string[]; readonly told: unknown }> {
  const dice = createDice(seed);
  const ending = ENDINGS[dice(ENDINGS.length)] as (typeof ENDINGS)[number];
  const here = path.join(directory.path, String(seed));
  const at = (name: string) => path.join(here, name);
  const root = at('root');
  plantTree(root);
  execFileSync('mkfifo', [at('go')]);
  // Held for reading and writing, so that neither side waits for the other to open it.
  const go = fs.openSync(at('go'), fs.constants.O_RDWR);
  const steps = 1 + dice(4);
  const exitCode = ending === 'succeed' ? 0 : ending === 'fail' ? 3 : null;
  const place = { go: at('go'), done: at('done-'), pid: at('pid'), root };
  const script = commandScript(dice, place, { steps, exitCode });
  fs.writeFileSync(at('script'), script.text);
  const person = createPerson(root, dice, script.paths);
  if (seed % 2 === 0 && ending !== 'timeout') person.holdOpen();
  const actSometimes = () => {
    for (let times = dice(3); times > 0; times--) person.act();
  };
  const due = createDice(seed + 1_000_000);
  let disturbing = false;
  const files = disturbed(nodeHostFiles, person.act, () => disturbing && due(4) === 0);
  const undoLog = openHostUndoLog(at('undo'), files);
  const store = openHostContentStore(at('blobs'));
  const open = () => openHostFilesystem({ root, store, undoLog, files });
  let over = false;
  const drive = async (count: number, from = 0) => {
    for (let step = from; step < from + count; step++) {
      fs.writeSync(go, '\n');
      while (!over && !fs.existsSync(place.done + step)) await setImmediate();
      person.lookAround();
      actSometimes();
    }
  };
  const lost = (kept: ReadonlySet<string>) => {
    person.writeToHeld();
    const there = tokensUnder(root);
    return [...person.written].filter(token => !there.has(token) && !kept.has(token));
  };
  try {
    if (ending.startsWith('SIG')) {
      const owner = spawn(
        process.execPath,
        [childScript(import.meta.dirname, 'person-owner-child.ts'), here, at('script')],
        {
          stdio: 'ignore',
        },
      );
      const exited = once(owner, 'exit').then(() => {
        over = true;
      });
      const early = dice(2);
      while (!over && !fs.existsSync(at('pid'))) await setImmediate();
      await drive(steps - early);
      owner.kill(ending as NodeJS.Signals);
      await exited;
      over = false;
      // The command outlives its owner, as one that is not confined does.
      await drive(early, steps - early);
      process.kill(-Number(fs.readFileSync(at('pid'), 'utf8')), 'SIGKILL');
      person.lookAround();
      actSometimes();
      person.letGoIfRemoved();
      disturbing = true;
      const recoveries = await recoverPending({ undoLog, locks: createPathLocks(), open, files });
      disturbing = false;
      const told = recoveries[0]?.outcome;
      const kept = told?.kind === 'rolled-back' || told?.kind === 'restore-finished' ? told.kept : null;
      expect(['rolled-back']).toContain(told?.kind);
      return { lost: lost(await keptTokens(store, kept)), told };
    }
    const { state } = createTestState({ files: must(open()) });
    const runner = createTestRunner(state, { tools: [createRunCommand({ unconfined: true })], undoLog });
    const aborter = new AbortController();
    const timeoutMs = ending === 'timeout' ? 400 : 3_600_000;
    const input = { command: ['sh', at('script')], timeoutMs };
    const running = runner.execute({ id: 'call', name: 'run_command', input }, { signal: aborter.signal });
    void running.then(() => {
      over = true;
    });
    // Where the time is up before the command has done everything, the person stops too.
    if (ending === 'timeout') {
      fs.writeSync(go, '\n'.repeat(steps));
      while (!over && !fs.existsSync(place.done + (steps - 1))) await setImmediate();
      if (!over) actSometimes();
    } else {
      await drive(steps);
      actSometimes();
    }
    person.letGoIfRemoved();
    disturbing = true;
    if (ending === 'cancel') aborter.abort();
    fs.writeSync(go, '\n');
    const outcome = must(await running);
    disturbing = false;
    const kept = outcome.status === 'failed' && outcome.rollback.kind === 'restored' ? outcome.rollback.kept : null;
    expect(outcome.status).toBe(ending === 'succeed' ? 'succeeded' : 'failed');
    return { lost: lost(await keptTokens(store, kept)), told: outcome };
  } finally {
    person.letGo();
    fs.closeSync(go);
  }
}

describe('a person and a command that runs in place', () => {
  it('[S110] [S112] [S113] [S353] in one directory: nothing that the person wrote is lost, however the command ends', async () => {
    const hurt: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed += APART) {
      const { lost, told } = await interleave(seed);
      if (lost.length > 0) hurt.push({ seed, lost, told });
    }
    expect(hurt).toEqual([]);
  });
});
