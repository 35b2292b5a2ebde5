import { createIdSource, portableHasher, type RunId } from '@signalbox/model';
import { loadPlan, runPlan } from '@signalbox/plan';
import { memoryRuns, type OwnerId } from '@signalbox/runs';

/** Loads each plan that is named, runs it if told so, and prints what came of it, one JSON line each. */
const [mode, ...files] = process.argv.slice(2);
for (const file of files) {
  const loaded = await loadPlan(file);
  if (!loaded.ok) console.log(JSON.stringify({ error: loaded.error }));
  else if (mode === 'load')
    console.log(JSON.stringify({ name: loaded.value.plan.name, closure: loaded.value.closure }));
  else {
    const clock = { now: () => 0 };
    const rng = { bytes: (length: number) => new Uint8Array(length) };
    const ids = createIdSource(clock, rng);
    const runs = memoryRuns(portableHasher);
    const { finished, tree } = runPlan({
      plan: loaded.value.plan,
      run: ids.mint<RunId>(),
      owner: 'child' as OwnerId,
      create: { name: 'child', tags: [], mode: 'AUTO', globalMode: 'IMPLEMENTATION', input: null, limits: {}, seed: 1 },
      commit: runs,
      reader: runs,
      executor: { execute: async () => ({ kind: 'done', output: null }) },
      clock,
      rng,
      ids,
      timers: {
        after(ms, run) {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
      },
    });
    const end = await finished;
    console.log(JSON.stringify({ end, tree: tree() }));
  }
}
