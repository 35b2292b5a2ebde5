/**
 * A server under load, in JSON lines: 50 runs that stream while 20 clients listen to all of them.
 *
 *   node bench/load.ts [--runs N] [--subscribers N] [--turns N]
 */
import { parseArgs } from 'node:util';
import { streamRuns } from '../test/load/streaming-runs.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    subscribers: { type: 'string', default: '20' },
    turns: { type: 'string', default: '8' },
  },
});
const report = await streamRuns({
  runs: Number(values.runs),
  subscribers: Number(values.subscribers),
  turns: Number(values.turns),
  lookMs: 1_000,
  pace: () => new Promise(resolve => setTimeout(resolve, 20)),
});
const { faults, loopDelay, ...rest } = report;
console.log(
  JSON.stringify({
    name: 'what clients were not told',
    value: faults.length,
    goal: 0,
    ok: faults.length === 0,
    faults: faults.slice(0, 5),
  }),
);
console.log(
  JSON.stringify({
    name: 'event loop delay of the server, p99 in ms',
    value: loopDelay.p99,
    goal: 100,
    ok: loopDelay.p99 < 100,
    ...loopDelay,
    ...rest,
  }),
);
process.exitCode = faults.length === 0 && loopDelay.p99 < 100 ? 0 : 1;
