/**
 * What tests of plans take: 1,000 runs of `examples/07-replay-in-a-test`, each of eight frames with a question that is answered, in this
 * process with `signalbox/testing`, from the start of the first to the end of the last. One JSON line a figure.
 *
 *   node bench/testing.ts [--runs N] [--rounds N]
 *
 * ms      the time, of which the machine's other work is a part
 * cpuMs   the processor time
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { testPlan } from '../packages/signalbox/src/testing.ts';
import { goal } from './figures.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '3' } },
});
const runs = Number(values.runs);
const plan = new URL('../examples/07-replay-in-a-test/plan.tsx', import.meta.url);

async function testOnce(crash: boolean): Promise<void> {
  await using run = await testPlan(plan, { people: crash ? {} : { ok: 'approve' } });
  if (crash) {
    await run.settled();
    await run.crashAndResume();
    await run.answer('ok', 'approve');
  }
  const end = await run.end();
  if (end.status !== 'completed') throw new Error(`a run ended ${end.status}`);
}

for (const [name, crash] of [
  ['tests', false],
  ['tests with a crash', true],
] as const) {
  await testOnce(crash);
  const [ms, cpuMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    const [since, cpu] = [performance.now(), process.cpuUsage()];
    for (let count = 0; count < runs; count++) await testOnce(crash);
    const { user, system } = process.cpuUsage(cpu);
    ms.push(performance.now() - since);
    cpuMs.push((user + system) / 1000);
  }
  goal(`${name}, ms`, ms, 'at most', 10 * runs, { runs });
  goal(`${name}, cpuMs`, cpuMs, 'at most', 10 * runs, { runs });
}
