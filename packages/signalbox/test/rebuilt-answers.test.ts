import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openUsers } from '@signalbox/app';
import { openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { openHome, repairHome, thisMachine } from '@signalbox/app/host';
import type { RunId } from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { openStore, type Store } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sampled, sized } from '../../../test/sized.ts';
import { importRun } from '../../app/src/bundles/import-run.ts';
import { createRunLogWriter } from '../../app/src/logs/run-log-writer.ts';
import { deriveJournal } from '../../app/src/run-journal/derive-journal.ts';
import { killedRuns } from '../../app/test/support/killed-runs.ts';
import { tablesOfRuns } from '../../store/src/verify/row-differences.ts';
import { importedCopy } from '../../store/test/support/imported-copy.ts';
import { redact, secretRun } from '../../store/test/support/secret-runs.ts';
import { variedRun } from '../../store/test/support/varied-runs.ts';
import { called } from './data-commands.ts';
import { temporaryFolder } from './program.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
/** How many runs no plan made, and how many were started by owners that were killed; their sub-plans come on top. */
const [MADE, KILLED] = sized([3, 1], [3, 4], [130, 60]);
const machine = thisMachine();
const histories = fileURLToPath(new URL('../../../spec/histories/', import.meta.url));
const TOKEN = 'a'.repeat(43);

/**
 * Varied runs: recorded plans, runs with every kind of row, collapsed, redacted and imported ones, a fork without its parent, and runs whose
 * owners were killed.
 */
async function variedData(): Promise<string> {
  const folder = temporaryFolder();
  const data = path.join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  await madeRuns(data);
  await killedRuns(folder, KILLED, seededRng(442));
  const store = opened(data);
  const logs = createRunLogWriter({ reader: store, dataDirectory: data, clean: value => value });
  expect(await logs.writeLogs(await logs.behindLogs())).toEqual({ left: [] });
  const bundles = readdirSync(histories).filter(file => file.endsWith('.bundle'));
  for (const name of sampled(bundles, 3)) {
    const imported = await importRun({ store, dataDirectory: data, machine, by: 'ada' }, path.join(histories, name));
    if (!imported.ok) throw new Error(imported.error.message);
  }
  // Parts of messages are in no log.
  const database = new DatabaseSync(path.join(data, 'db.sqlite'));
  database.exec(`delete from stream where kind in ('token', 'thinking')`);
  database.close();
  for (const run of await idsOf(store)) expect(await deriveJournal(data, store, run)).toMatchObject({ ok: true });
  store.close();
  return data;
}

/** Runs that no plan made, whose ids are older than those of the others. */
async function madeRuns(data: string): Promise<void> {
  const store = opened(data);
  redact(store, (await secretRun(store)).run);
  expect(store.retention.remove([await variedRun(store, 2)])).toMatchObject({ ok: true });
  await importedCopy(store, await variedRun(store, 6));
  for (let seed = 0; (await idsOf(store)).length < MADE; seed++) await variedRun(store, seed);
  store.close();
}

function opened(data: string): Store {
  const store = openStore({ path: path.join(data, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  return store.value;
}

async function idsOf(store: Store): Promise<readonly RunId[]> {
  return (await store.runs({ limit: 1000 })).items.map(({ id }) => id);
}

/** Commands that read, with a run and without; `verify` has tests of its own. */
const OF_RUN = 'show why state frames transitions events checkpoints artifacts diff logs'.split(' ');
const OF_ALL = ['ls', 'decisions', 'recoveries'];

async function commandAnswers(data: string, runs: readonly RunId[]): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  const lines = [...OF_ALL.map(name => [name]), ...runs.flatMap(run => OF_RUN.map(name => [name, run]))];
  for (const line of lines) {
    for (const json of [[], ['--json']]) {
      const args = [...line, ...json];
      const { code, said } = await called([...args, '--data-dir', data]);
      answers.set(args.join(' '), { code, said: withoutAge(said) });
    }
  }
  return answers;
}

/** How long ago something was depends on when it is asked. */
function withoutAge(said: string): string {
  return said.replaceAll(/\b\d+ (?:s|min|h|days?) ago\b|\b\d+(?:s|m|h|d) ago\b|just now/g, 'some time ago');
}

/** Routes that say nothing of runs, are about one agent of the fleet, or that say when they were asked. */
const OTHER_ROUTES =
  /^\/api\/(health|openapi|metrics|settings|users|providers|sessions|workflow|plans|trust|agents\/)|\/(bundle|input|compare\/\{other\})$/;

/** The answer of every route that reads runs, as listed in `openapi.json`. */
async function restAnswers(data: string, runs: readonly RunId[]): Promise<ReadonlyMap<string, unknown>> {
  const home = await openHome({
    dataDirectory: data,
    machine,
    env: {},
    planRoots: [],
    resumeOnAnswer: false,
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Error(home.error.message);
  const guided = { dataDirectory: data, directories: [], machine };
  const server = await startServer({
    host: home.value.host,
    token: TOKEN,
    users: openUsers(data, machine),
    settings: home.value.settings({ directoryFrom: 'program', workflowDirectories: [] }),
    guided: openGuidedTools(guided),
    sessions: openGuidedSessions(guided),
    port: 0,
    timers: machine.timers,
  });
  if (!server.ok) throw new Error(server.error.message);
  const get = async (route: string) => {
    const answer = await fetch(server.value.url + route, { headers: { authorization: `Bearer ${TOKEN}` } });
    const text = await answer.text();
    return { status: answer.status, text };
  };
  const listed = async (route: string, name: string) =>
    (JSON.parse((await get(route)).text) as Readonly<Record<string, readonly { readonly id: string }[]>>)[name] ?? [];
  const { paths } = JSON.parse((await get('/api/openapi.json')).text) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.keys(paths).filter(route => 'get' in (paths[route] ?? {}) && !OTHER_ROUTES.test(route));
  const artifacts = await listed('/api/artifacts?limit=100', 'artifacts');
  const answers = new Map<string, unknown>();
  const ask = async (route: string, names: readonly (readonly [string, string])[]): Promise<void> => {
    const filled = names.reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), route);
    if (filled.includes('{')) throw new Error(`${route}: nothing stands for ${filled}`);
    answers.set(filled, await get(filled));
  };
  for (const route of routes) {
    if (route.includes('{artifact}')) {
      for (const { id } of artifacts) await ask(route, [['artifact', id]]);
    } else if (route.includes('{run}')) {
      for (const run of runs) {
        const tasks = route.includes('{task}') ? await listed(`/api/runs/${run}/tasks`, 'tasks') : [{ id: '' }];
        for (const { id } of tasks)
          await ask(route, [
            ['run', run],
            ['call', '0'],
            ['frame', '0'],
            ['task', id],
          ]);
      }
    } else {
      await ask(route, []);
    }
  }
  await server.value.close();
  await home.value.close();
  return answers;
}

async function everyAnswer(data: string) {
  const store = opened(data);
  const runs = await idsOf(store);
  store.close();
  const rest = await restAnswers(data, runs);
  return { rest, commands: await commandAnswers(data, SOAK ? runs : [...runs].sort().filter((_, at) => at % 4 === 0)) };
}

type Answers = Awaited<ReturnType<typeof everyAnswer>>;

/** The questions whose answers differ, with both: a comparison of all of them would not show where. */
function differences(before: Answers, after: Answers): readonly unknown[] {
  const of = ({ rest, commands }: Answers) => new Map([...rest, ...commands]);
  const [one, other] = [of(before), of(after)];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap(question => {
    const [expected, received] = [one.get(question), other.get(question)].map(answer => JSON.stringify(answer));
    return expected === received ? [] : [{ question, expected, received }];
  });
}

const repaired = (data: string) => repairHome({ dataDirectory: data, machine });

describe('the answers of a data directory', { timeout: 8 * 3_600_000 }, () => {
  let data: string;
  let kept: string;
  let before: Answers;

  beforeAll(async () => {
    data = await variedData();
    before = await everyAnswer(data);
    expect(
      [...before.rest.values()].filter(answer => (answer as { status: number }).status === 200).length,
    ).toBeGreaterThan((MADE + KILLED) * 8);
    // An answer that only says that the program is broken would be equal, too.
    const broken = [...before.commands].filter(([, answer]) => JSON.stringify(answer).includes('internal error'));
    expect(broken).toEqual([]);
    kept = `${data}-kept`;
    cpSync(data, kept, { recursive: true });
  }, 8 * 3_600_000);

  // Answers name the directory: each test has it as it was, in the same place.
  beforeEach(() => {
    rmSync(data, { recursive: true });
    cpSync(kept, data, { recursive: true });
    // A copy of a directory is as open as any.
    chmodSync(data, 0o700);
  });

  it('[A442] are the same, byte for byte, once every row but the logs was dropped and repaired', async () => {
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    database.exec('pragma foreign_keys = off');
    for (const { name } of tablesOfRuns(database)) if (name !== 'records') database.exec(`delete from ${name}`);
    database.close();
    expect(repaired(data)).toMatchObject({ value: { ok: true } });
    expect(differences(before, await everyAnswer(data))).toEqual([]);
  });

  it('[A443] are the same, byte for byte, once the database is gone and made again from journals and blobs', async () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path.join(data, `db.sqlite${suffix}`), { force: true });
    expect(repaired(data)).toMatchObject({ value: { ok: true } });
    expect(differences(before, await everyAnswer(data))).toEqual([]);
  });
});
