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
goal('what clients were not told', faults.length, 0, { first: faults.slice(0, 5) });
goal('event loop delay of the server, p99 in ms', loopDelay.p99, 100, { ...loopDelay, ...rest });

function goal(bench: string, value: number, reach: number, more: object): void {
  const isReached = value <= reach;
  if (!isReached) process.exitCode = 1;
  process.stdout.write(`${JSON.stringify({ bench, ...more, value, 'at most': reach, reached: isReached })}\n`);
}
