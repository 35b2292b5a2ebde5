import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { startChild } from '@signalbox/testkit';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { thisMachine } from '../src/machine.ts';
import { commitText } from '../src/threads/commit-message.ts';
import { threadHost } from '../src/threads/thread-host.ts';
import { bystander, tell } from './support/bystander.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

describe('the environment of a plan’s thread', () => {
  it('[A277] is what its project declares: in its modules, and in processes that it starts', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, '.signalbox'));
    const secret = ['not', 'for', 'plans'].join('-');
    const env = { PATH: process.env.PATH, CI: 'yes', DEPLOY_URL: 'x', ANTHROPIC_API_KEY: secret, MY_TOKEN: secret };
    // A thread must not see what the process has either.
    vi.stubEnv('PLANTED_TOKEN', secret);
    const { start, end, state, close, host } = await openTestHost(folder, { env, threads: { threads: 1 } });
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await close();
    });
    writeFileSync(path.join(folder, '.signalbox', 'plans.json'), '{"env": ["CI", "ANTHROPIC_API_KEY"]}');
    writeFileSync(path.join(folder, 'nested.ts'), 'export const seen = { ...process.env };');
    const text = planText(
      '<Task id="a" run={() => shown} onFinished={seen => ctx.state.set("seen", seen)} />',
      'z.object({ seen: z.any() })',
      "import { execFileSync } from 'node:child_process';\nimport { seen } from './nested.ts';\nconst shown = { seen, child: execFileSync('env').toString().split('\\n') };",
    );
    const run = await start('sees', text);
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const output = (await state(run)).seen as { seen: Record<string, string>; child: string[] };
    expect(output.seen).toMatchObject({ CI: 'yes', PATH: process.env.PATH });
    expect(Object.keys(output.seen)).not.toContain('DEPLOY_URL');
    expect(output.child).toContain('CI=yes');
    expect(JSON.stringify(output)).not.toContain(secret);
    writeFileSync(path.join(folder, '.signalbox', 'plans.json'), '{');
    expect(await host.start({ file: path.join(folder, 'sees.tsx'), input: {} })).toMatchObject({
      ok: false,
      error: { code: 'plan/load-failed', message: expect.stringContaining('plans.json is not JSON') },
    });
  });
});

describe('a thread that asks for a run of another', () => {
  it('[A282] is refused, and nothing is done to it', async () => {
    const folder = temporaryFolder();
    const test = await openTestHost(folder, { threads: { threads: 1 } });
    onTestFinished(() => test.close());
    const run = await test.start('good', planText('<Task id="a" run={() => 1} />'));
    await test.end(run);
    const before = await test.store.run(run);
    const told: unknown[] = [];
    const nobody = () => {
      throw new Error('it was asked for');
    };
    const ports = {
      store: test.store,
      clock: thisMachine().clock,
      storage: { commit: nobody, put: nobody },
      executor: { execute: nobody, allow: nobody, timeOver: nobody, idle: nobody },
      workspaces: undefined,
      ...{ onProgress: nobody, onFramed: nobody, onTrace: () => told.push('trace'), onSubRun: () => told.push('sub') },
    } as unknown as Omit<Parameters<typeof threadHost>[0], 'where'>;
    const ask = (where: 'elsewhere' | undefined) => {
      const { calls } = threadHost({ ...ports, where: () => where });
      const guard = { run, epoch: 99, version: before?.version ?? 0 } as const;
      calls.subRun(run, run, true);
      calls.trace(run, {} as never);
      return Promise.all([
        calls.commit(
          commitText({
            writes: { at: '2026-01-01T00:00:00.000Z', run: { kind: 'change', change: { status: 'failed' } } } as never,
            guard,
            frames: [],
          }),
        ),
        calls.execute('x', { run } as never),
        calls.allow({ run } as never, {}),
        calls.workspace(run, { kind: 'snapshot' }),
      ]);
    };
    for (const where of ['elsewhere', undefined] as const) {
      const code = 'run/writes-refused';
      expect(await ask(where)).toMatchObject([
        { ok: false, error: { code } },
        { kind: 'failed', error: { code } },
        { kind: 'failed', error: { code } },
        { ok: false, error: { code } },
      ]);
    }
    expect(told).toEqual([]);
    expect(await test.store.run(run)).toEqual(before);
  });
});

const DEATHS = process.env.SIGNALBOX_SOAK === '1' ? 20 : 2;

describe('a plan that kills the owner', () => {
  const living = new Set<ReturnType<typeof startChild>>();
  afterAll(() => {
    for (const { kill } of living) kill();
  });

  it('[A283] hurts no other run: each goes on in the next owner', async () => {
    const folder = temporaryFolder();
    const script = childScript(import.meta.dirname, 'support', 'killed-owner-child.ts');
    const owner = (...plans: readonly string[]) => {
      const child = startChild(script, folder, ...plans);
      living.add(child);
      return child;
    };
    for (const name of ['by-0', 'by-1', 'by-2'])
      writeFileSync(path.join(folder, `${name}.tsx`), bystander(folder, name));
    let running = owner('by-0.tsx', 'by-1.tsx', 'by-2.tsx');
    const { started } = JSON.parse(await running.firstLine) as { started: RunId[] };
    const look = async (run: RunId) => {
      const opened = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
      if (!opened.ok) throw new Error(opened.error.message);
      const reader = opened.value;
      const record = await reader.run(run);
      const state = await reader.at(run, 'state', record?.frames ?? 0);
      const retries = (await reader.tasks(run)).map(({ retryCount }) => retryCount);
      const times = (await reader.events(run, 0, 10_000)).map(({ event }) => Date.parse(event.ts));
      reader.close();
      return { n: new Map(state).get('n'), status: record?.status, retries, times };
    };
    for (let death = 0; death < DEATHS; death++) {
      tell(folder, `step-${death}`);
      for (const run of started) await until(async () => (await look(run)).n === death + 1 || undefined);
      const plan = `kills-${death}`;
      const killed = JSON.stringify(path.join(folder, `${plan}.killed`));
      // Once: taken up by the next owner, it would kill that one too.
      const deed = `if (existsSync(${killed})) return; writeFileSync(${killed}, ''); execFileSync('kill', ['-9', String(process.pid)]);`;
      const imports =
        "import { execFileSync } from 'node:child_process';\nimport { existsSync, writeFileSync } from 'node:fs';";
      const text = planText(`<Task id="a" run={() => { ${deed} }} />`, undefined, imports);
      writeFileSync(path.join(folder, `${plan}.tsx`), text);
      tell(folder, `start-${plan}`);
      expect((await running.ended).signal).toBe('SIGKILL');
      living.delete(running);
      running = owner();
    }
    tell(folder, 'end');
    for (const run of started) {
      const { n, status, retries, times } = await until(async () => {
        const seen = await look(run);
        return seen.status === 'completed' ? seen : undefined;
      });
      expect({ n, status }).toEqual({ n: DEATHS, status: 'completed' });
      expect(retries).toEqual(retries.map(() => 0));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
  });
});
