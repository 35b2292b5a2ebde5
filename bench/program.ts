/**
 * The program as users run it (`npm run build` first) next to its floors, interleaved, one JSON line a figure. The value of a
 * figure is the median of its rounds. `bench/README.md` keeps the figures.
 *
 *   node bench/program.ts [part ...] [--dir DIR] [--rounds N]
 *
 * run        `signalbox run` of 2,000 steps that write state: steps a second from the first task to the last event, as they arrive on
 *            its standard output, of the floor `step`; from the last event to exit; bytes a step on disk after it
 * engine     the engine in this process, without a host: steps that write state, of `step`
 * fan-out    1,000 plans of 5 steps, 50 at a time, through the host in process and through a server over REST, of `batch` x 32
 * resume     from the start of `signalbox resume` to the first new step, over a bare `node`
 * look       `show` of a run with 2,000 nodes and `ls`, from start to exit, over a bare `node`
 * mcp        from the start of `signalbox mcp` to the answer to its first tool call, over a bare `node`
 * long       `signalbox run` of 10,000 steps next to 1,000
 * siblings   a step of `signalbox run` among 30,000 siblings next to one among 1,000
 * waiting    memory of a server by run that waits for a person
 * streaming  a step in a server while 50 runs stream to 20 subscribers, next to one while they are silent
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine } from './plan/engine.ts';
import { benchEngineSteps } from './plan/engine-steps.ts';
import { writingTasks } from './plan/plans.ts';
import { benchFanOut } from './program/fan-out.ts';
import { installed } from './program/installed.ts';
import { type Place, placeIn } from './program/place.ts';
import { benchLong, benchRun, benchSiblings } from './program/run-steps.ts';
import { benchLook, benchMcp, benchResume } from './program/starts.ts';
import { benchStreaming } from './program/streaming.ts';
import { benchWaiting } from './program/waiting.ts';

const parts: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  run: benchRun,
  engine: place => benchEngineSteps(createEngine(place.directory()), 'writing state', writingTasks, place.rounds, 0.6),
  'fan-out': benchFanOut,
  resume: benchResume,
  look: benchLook,
  mcp: benchMcp,
  long: benchLong,
  siblings: benchSiblings,
  waiting: benchWaiting,
  streaming: benchStreaming,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const unknown = positionals.find(part => !(part in parts));
if (unknown !== undefined) throw new Error(`No part "${unknown}". Parts: ${Object.keys(parts).join(' ')}.`);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
// The plan of a run is looked for in its project, and the settings of a user in their home: both are empty.
process.env.HOME = root;
// The program refuses a data directory that others can read, and some are copied here.
process.umask(0o077);

// After a signal too, once the processes that write there are ended.
process.on('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

const place = placeIn(root, installed(root), Number(values.rounds));
for (const [name, bench] of Object.entries(parts)) {
  if (positionals.length === 0 || positionals.includes(name)) await bench(place);
}
