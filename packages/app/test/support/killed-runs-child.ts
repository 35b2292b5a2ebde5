// An owner of the data directory in FOLDER that kills itself at a commit, in the middle of several runs.
//   node killed-runs-child.ts FOLDER KILL start COUNT     starts so many runs, by turns of plans with tasks and with agents
//   node killed-runs-child.ts FOLDER KILL take-up         resumes what owners before it left
// KILL is `never`, or `before:3`, `after:3`. What runs ask is approved.
import path from 'node:path';
import { Bug, err, type RunId } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import { usageError } from '../../src/command-error.ts';
import { takeUp } from '../../src/host/take-up.ts';
import { openKilledAtCommit } from './killed-at-commit.ts';

const [folder = '', kill = '', what = '', count = '0'] = process.argv.slice(2);

/** Four turns with a tool call each; it goes on from what it kept. */
const agents: AgentRunner = {
  async run({ task }, session) {
    const kept = await session.transcript();
    const isKept = (kind: string, call: string) =>
      kept.some(entry => (entry as Entry).kind === kind && (entry as Entry).call === call);
    for (let turn = 0; turn < 4; turn++) {
      const call = `${task}/1/${turn}/0`;
      if (!isKept('assistant', call)) {
        session.stream('thinking', `Turn ${turn}.`);
        session.stream('token', 'I look ');
        session.stream('token', 'at it.');
        await session.keep([{ kind: 'assistant', call, content: [{ type: 'text', text: 'I look at it.' }] }]);
        const usage = { inputTokens: 5, outputTokens: 7, cachedTokens: 0, toolCalls: 1, costMicroUsd: 3, wallMs: 1 };
        await session.spend({ call: `turn-${turn}`, ...usage });
      }
      if (isKept('tool_ended', call)) continue;
      session.stream('tool_start', { call, tool: 'look', input: { turn } });
      if (!isKept('tool_begun', call))
        await session.keep([{ kind: 'tool_begun', call, tool: 'look', input: { turn } }]);
      const status = turn === 2 ? 'failed' : 'succeeded';
      await session.keep([{ kind: 'tool_ended', call, tool: 'look', status, output: { type: 'json', value: turn } }]);
      session.stream('tool_end', { call, tool: 'look', outcome: status });
    }
    return { kind: 'done', output: 'Looked.' };
  },
};
interface Entry {
  readonly kind?: unknown;
  readonly call?: unknown;
}

const { host, store, close } = await openKilledAtCommit(folder, kill, { agents });
/** Other runs of the data directory are left as they are. */
const isOurs = async (run: RunId) => ['crash', 'agents'].includes((await store.run(run))?.name ?? '');
const runs = what === 'start' ? await startRuns() : await takeUp({ ...host, resume: resumeOurs });
for (const run of runs) await host.finished(run);
for (;;) {
  const open = await store.decisions({ status: ['open'] });
  const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as const;
  const resumed = new Set<RunId>();
  for (const { decision, run } of open) {
    if (!(await isOurs(run))) continue;
    const answered = await host.answer(decision.id, { resolution }, 'tester');
    if (answered.ok) resumed.add(run);
  }
  for (const run of resumed) await host.resume(run, { anyFile: true });
  for (const run of resumed) await host.finished(run);
  if (resumed.size === 0) break;
}
await close();

async function resumeOurs(run: RunId): ReturnType<typeof host.resume> {
  return (await isOurs(run)) ? host.resume(run) : err(usageError(`Run ${run} is not ours.`, 'Leave it.'));
}

async function startRuns(): Promise<readonly RunId[]> {
  const started: RunId[] = [];
  const plans = ['crash.tsx', 'agents.tsx'].map(name => path.join(import.meta.dirname, '..', 'plans', name));
  for (let n = 0; n < Number(count); n++) {
    const file = plans[n % plans.length] as string;
    const run = await host.start({ file, anyFile: true, input: { side: path.join(folder, 'side') } });
    if (!run.ok) throw new Bug(run.error.message);
    started.push(run.value);
  }
  return started;
}
