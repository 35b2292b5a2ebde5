import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { goal, median } from '../figures.ts';
import type { MemoryReport } from './memory-probe.ts';
import { type Place, planIn } from './place.ts';
import { waitingPlan } from './plan-files.ts';
import { serve } from './serving.ts';

/** The first runs warm the server up. */
const WARM_UP = 400;
const RUNS = 500;
/** By then a server that has nothing to do has given memory back. */
const IDLE_MS = 10_000;

/** The memory of a server with 500 more runs that wait for a person, by run: resident, and held by objects and buffers. */
export async function benchWaiting(place: Place): Promise<void> {
  const [held, resident]: [number[], number[]] = [[], []];
  for (let round = 0; round < Math.ceil(place.rounds / 2); round++) {
    const { home, plan } = planIn(place, waitingPlan());
    const file = path.join(home, 'memory.json');
    const probe = path.join(import.meta.dirname, 'memory-probe.ts');
    // Collecting would also drop the bytecode of the start, which is more than the runs take.
    const nodeArgs = ['--no-flush-bytecode', '--import', probe];
    const serving = await serve(place.program, home, { nodeArgs, env: { MEMORY_FILE: file } });
    const wait = () => serving.startUntil(plan, status => status === 'waiting');
    const memory = async () => {
      await sleep(IDLE_MS);
      rmSync(file, { force: true });
      process.kill(serving.server.pid, 'SIGUSR2');
      while (!((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0)) await sleep(50);
      return JSON.parse(readFileSync(file, 'utf8')) as MemoryReport;
    };
    for (let run = 0; run < WARM_UP; run++) await wait();
    const before = await memory();
    for (let run = 0; run < RUNS; run++) await wait();
    const after = await memory();
    await serving.close();
    held.push((sum(after.heaps) - sum(before.heaps)) / 1_000 / RUNS);
    resident.push((after.rss - before.rss) / 1_000 / RUNS);
  }
  goal(`a run that waits for a person, kB of ${RUNS} in a server`, resident, 'at most', 40, {
    heldKb: Math.round(median(held)),
  });
}

function sum(bytes: readonly number[]): number {
  return bytes.reduce((all, some) => all + some, 0);
}
