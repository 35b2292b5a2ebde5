// An owner of the data directory in FOLDER whose echo agent calls its model as PLAN says, until the run ends or the process is killed.
//   node metered-host-child.ts FOLDER MODEL PLAN
import * as fs from 'node:fs';
import { ECHO, openMeteredHost } from './metered-host.ts';

const [folder = '', model = '', plan = ''] = process.argv.slice(2);
const { host, start, close } = await openMeteredHost({ folder, agent: ECHO, model });
const run = await start(fs.readFileSync(plan, 'utf8'), {});
await host.finished(run);
await close();
