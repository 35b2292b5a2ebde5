// An owner of the data directory in FOLDER, until it is killed.
//   node killed-owner-child.ts FOLDER PLAN…        takes up what is there, starts the plans, and every plan `start-NAME` asks for
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import { takeUp } from '../../src/host/take-up.ts';
import { openTestHost } from './open-host.ts';

const [folder = '', ...plans] = process.argv.slice(2);
await own();

async function own(): Promise<void> {
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
