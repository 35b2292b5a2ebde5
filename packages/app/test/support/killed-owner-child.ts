// An owner of the data directory in FOLDER, until it is killed.
//   node killed-owner-child.ts FOLDER PLAN…        takes up what is there, starts the plans, and every plan `start-NAME` asks for
//   node killed-owner-child.ts FOLDER --look RUN   prints how a run stands
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { takeUp } from '../../src/host/take-up.ts';
import { openTestHost } from './open-host.ts';

const [folder = '', ...args] = process.argv.slice(2);
if (args[0] === '--look') await look(args[1] as RunId);
else await own(args);

async function own(plans: readonly string[]): Promise<void> {
  const { host } = await openTestHost(folder, { threads: { threads: 1 } });
  await takeUp(host);
  const begin = async (file: string) => {
    const run = await host.start({ file: path.join(folder, file), input: {}, idempotencyKey: file });
    if (!run.ok) throw new Bug(run.error.message);
    return run.value;
  };
  const started: RunId[] = [];
  for (const plan of plans) started.push(await begin(plan));
  console.log(JSON.stringify({ started }));
  for (const begun = new Set<string>(); ; ) {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith('start-') || begun.has(name)) continue;
      begun.add(name);
      await begin(`${name.slice('start-'.length)}.tsx`);
    }
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

async function look(run: RunId): Promise<void> {
  const opened = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!opened.ok) throw new Bug(opened.error.message);
  const reader = opened.value;
  const record = await reader.run(run);
  const state = await reader.at(run, 'state', record?.frames ?? 0);
  const retries = (await reader.tasks(run)).map(({ retryCount }) => retryCount);
  const times = (await reader.events(run, 0, 10_000)).map(({ event }) => Date.parse(event.ts));
  console.log(JSON.stringify({ n: new Map(state).get('n'), record: { status: record?.status }, retries, times }));
  reader.close();
}
