import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { detectSandbox } from '@signalbox/state';
import { type EchoStep, echoPrompt } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { contractView } from '../src/contract-view/plan-events.ts';
import { snapshotOf } from '../src/contract-view/run-view.ts';
import { openTurns } from '../src/turns/open-turns.ts';
import { echoPlan, openEchoHome } from './support/open-echo-home.ts';
import { until } from './support/until.ts';

const sandbox = await detectSandbox();
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

const edit: EchoStep = {
  ...{ do: 'ask', id: 'e', kind: 'edit', title: 'Write a.txt', name: 'Write', input: { file: 'a.txt' } },
  ...{ allowed: [{ do: 'append', file: 'a.txt', text: 'edited' }] },
};

describe.skipIf(!sandbox.ok)('an installed agent', () => {
  it('[A710] does its turn in a sandbox, and its changes are applied as a whole', async () => {
    const { data, work, store, start, end, state } = await openEchoHome();
    fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
    const run = await start('plan', echoPlan([edit, { do: 'say', text: 'Done.' }]));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await state(run)).toEqual({ said: 'Done.' });
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first\nedited\n');
    const [task] = await store.tasks(run);
    const kept = (await store.stream(run, task?.id as never, 0, 500)).filter(({ kind }) => kind === 'message');
    expect(kept.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ kind: 'begun', agent: expect.objectContaining({ id: 'echo', from: 'command' }) }),
    );
    expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual([]);
  });

  it('[A711] sees what its row names of our variables, its settings, PATH and locale, and a home of its own', async () => {
    const { data, work, start, end, state } = await openEchoHome();
    const names = ['ECHO_KEY', 'OTHER_KEY', 'ECHO_SET', 'LANG', 'HOME'];
    const steps = names.flatMap((name): EchoStep[] => [
      { do: 'variable', name },
      { do: 'say', text: '\n' },
    ]);
    const run = await start('plan', echoPlan([...steps]));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const { said } = (await state(run)) as { said: string };
    const [key, other, set, lang, home = ''] = said.trim().split('\n');
    // The key reached the agent; what is kept of it does not show it.
    expect(key).not.toBe('not set');
    expect([other, set, lang]).toEqual(['not set', fs.realpathSync(work), 'C.UTF-8']);
    expect([path.dirname(home), fs.existsSync(home)]).toEqual([path.join(fs.realpathSync(data), 'agent-homes'), false]);
  });

  it('[A712, A792, A793, A794] waits for a person in its process, and goes on with the answer in the same turn', async () => {
    const { data, host, work, store, start, end, state } = await openEchoHome();
    const run = await start(
      'plan',
      echoPlan(
        [edit, { do: 'say', text: 'Done.' }],
        'permissions="gated" tools={{ deny: ["run_command", "execute"] }}',
      ),
    );
    const [asked] = await until(async () => {
      const found = await store.decisions({ run, status: ['open'] });
      return found.length > 0 ? found : undefined;
    });
    expect(fs.readdirSync(work)).toEqual([]);
    expect(Object.values((await snapshotOf(host, run))?.nodes ?? {})).toMatchObject([
      {
        permissions: { cliPermissionsMode: 'gated' },
        capabilities: { writeCode: true, runCommands: false },
        session: { sessionId: expect.stringMatching(/^echo-\d+$/), resetCommands: [] },
        connection: { status: 'connected', streaming: true },
      },
    ]);
    expect(await host.answer(asked?.decision.id as never, { resolution: approve }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await state(run)).toEqual({ said: 'Done.' });
    const turns = openTurns(data, store, {});
    const prompts = (await turns.list(run)).filter(({ kind }) => kind === 'prompt');
    for (const artifact of prompts) {
      const read = await turns.read(artifact);
      if (!read.ok) throw new Error(read.error.message);
      const text = new TextDecoder().decode(read.value.content);
      if (artifact.name === 'prompt.full.txt')
        expect(text).toBe(`${echoPrompt([edit, { do: 'say', text: 'Done.' }])}\n`);
      else expect(JSON.parse(text)).toMatchObject({ sent: [{ prompt: 1, full: true, blocks: [{ type: 'text' }] }] });
    }
    expect(prompts).toHaveLength(2);
    const told = (await contractView(store, run)(await store.events(run, 0, 500))).map(({ event }) => event);
    const about = told.flatMap((event): (readonly [string, string])[] => {
      if (event.type === 'tool.proposed' || event.type === 'approval.requested') return [[event.type, event.tool.id]];
      return event.type === 'tool.started' || event.type === 'tool.completed' ? [[event.type, event.toolId]] : [];
    });
    const id = about.find(([type]) => type === 'approval.requested')?.[1];
    const own = about.filter(([, tool]) => tool === id).map(([type]) => type);
    expect(own).toEqual(['tool.proposed', 'approval.requested', 'tool.started', 'tool.completed']);
    const phases = told.flatMap(event => (event.type === 'run.phase' ? [event.phase] : []));
    expect(phases).toEqual([...new Set(phases)]);
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('edited\n');
    const events = (await store.events(run, 0, 500)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'call.began' || type === 'decision.asked')).toHaveLength(3);
    expect(events.filter(event => event.type === 'node.status' && event.to === 'blocked')).toEqual([]);
  });

  it('[A791] runs commands through us on its own layer', async () => {
    const { work, host, store, start, end, state } = await openEchoHome();
    const script = 'cat a.txt; echo more >> a.txt; echo $HOME; tail -n +3 /proc/net/dev | cut -d: -f1';
    const terminal: EchoStep = { do: 'terminal', command: 'bash', args: ['-c', script] };
    const run = await start('plan', echoPlan([{ do: 'write', file: 'a.txt', text: 'mine\n' }, terminal]));
    const [asked] = await until(async () => {
      const found = await store.decisions({ run, status: ['open'] });
      return found.length > 0 ? found : undefined;
    });
    expect(asked?.decision.proposal).toMatchObject({
      tool: 'terminal/create',
      kind: 'execute',
      title: `bash -c ${script}`,
    });
    expect(fs.readdirSync(work)).toEqual([]);
    await host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const { output, exitCode } = JSON.parse((await state(run)).said as string) as { output: string; exitCode: number };
    const [first, home, ...interfaces] = output.trim().split('\n');
    expect([exitCode, first, interfaces.map(name => name.trim())]).toEqual([0, 'mine', ['lo']]);
    expect(home).not.toContain('agent-homes');
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('mine\nmore\n');
  });

  it.each([
    ['continues its session if it has changed nothing', [], 'resumed'],
    ['begins a new session if it has changed something', [{ do: 'write', file: 'b.txt', text: 'b' }], 'new'],
  ] as const)('[A790] that waits without a process %s', async (_, before, opened) => {
    const env = { ECHO_AGENT: JSON.stringify({ continues: ['resume'] }) };
    const first = await openEchoHome({ env, resumeOnAnswer: false });
    const { folder, data, work } = first;
    const homes = () => fs.readdirSync(path.join(data, 'agent-homes')).filter(name => !name.includes('.'));
    const other: EchoStep = { ...edit, id: 'f', title: 'Write it again', input: { file: 'a.txt', again: true } };
    const steps = [...before, edit, other, { do: 'say', text: 'Done.' } as const];
    // What it may change without a question is not asked about.
    const run = await first.start('plan', echoPlan(steps, 'permissions="gated"'));
    expect(await first.end(run)).toMatchObject({ status: 'waiting' });
    expect(homes()).toHaveLength(before.length === 0 ? 1 : 0);
    const [asked] = await first.store.decisions({ run, status: ['open'] });
    expect(await first.host.answer(asked?.decision.id as never, { resolution: approve }, 'ada')).toMatchObject({
      ok: true,
    });
    await first.close();

    const second = await openEchoHome({ folder, env, resumeOnAnswer: false });
    expect(homes()).toHaveLength(before.length === 0 ? 1 : 0);
    expect(await second.host.resume(run)).toMatchObject({ ok: true });
    await second.end(run);
    const [task] = await second.store.tasks(run);
    const kept = await second.store.stream(run, task?.id as never, 0, 500);
    const begun = kept.flatMap(({ payload }) =>
      (payload as { kind?: string }).kind === 'begun' ? [(payload as { opened?: string }).opened] : [],
    );
    expect(begun).toEqual(['new', opened]);
    // The first call has changed something now: what follows is done again from the beginning.
    const [next] = await second.store.decisions({ run, status: ['open'] });
    expect(next?.decision.proposal).toMatchObject({ title: 'Write it again' });
    await second.host.answer(next?.decision.id as never, { resolution: approve }, 'ada');
    expect(await second.host.resume(run)).toMatchObject({ ok: true });
    expect(await second.end(run)).toMatchObject({ status: 'completed' });
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('edited\nedited\n');
    expect(await second.store.decisions({ run })).toHaveLength(2);
    expect(homes()).toEqual([]);
  });

  it('[A720] shows its changes before they are applied, as one decision that survives', async () => {
    const { host, work, store, start, end } = await openEchoHome();
    fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
    const steps: EchoStep[] = [edit, { do: 'write', file: 'new/b.txt', text: 'b\n' }, { do: 'say', text: 'Done.' }];
    for (const [choice, status, after] of [
      ['drop', 'failed', 'first\n'],
      ['apply-all', 'completed', 'first\nedited\n'],
    ] as const) {
      const run = await start(choice, echoPlan(steps, 'apply="ask" retries={0}'));
      expect(await end(run)).toMatchObject({ status: 'waiting' });
      expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first\n');
      const [asked] = await store.decisions({ run, status: ['open'] });
      const shown = asked?.decision.proposal as { prompt: string; context: { diff: string } } | undefined;
      expect(shown?.prompt).toMatch(/^Echo is done\. Apply its \d changes\?$/);
      expect(shown?.context.diff).toContain('--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n first\n+edited');
      expect(shown?.context.diff).toContain('+++ new/b.txt\n@@ -0,0 +1 @@\n+b');
      const resolution = { ...approve, resolutionType: 'choose_option', chosenOptionId: choice } as const;
      expect(await host.answer(asked?.decision.id as never, { resolution }, 'ada')).toMatchObject({ ok: true });
      await until(async () => (await store.run(run))?.status === status || undefined);
      expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe(after);
    }
  });

  it('[B132] asks before changes are applied that git would run, and applies others at once', async () => {
    const { host, work, store, start, end } = await openEchoHome();
    fs.mkdirSync(path.join(work, '.git'));
    fs.writeFileSync(path.join(work, '.git/config'), '[core]\n');
    const write = (file: string): EchoStep => ({ ...edit, allowed: [{ do: 'append', file, text: 'x' }] });
    const harmless = await start('harmless', echoPlan([write('.git/description'), { do: 'say', text: 'Done.' }]));
    expect(await end(harmless)).toMatchObject({ status: 'completed' });
    expect(fs.existsSync(path.join(work, '.git/description'))).toBe(true);
    const calls = await host.checkpoints(harmless);
    const call = calls.ok ? (calls.value[0]?.call ?? '') : '';
    const planned = await host.undo(harmless, call, { dryRun: true, diff: true }, 'ada');
    expect(planned).toMatchObject({ value: { diff: '# Also changed, not shown: .git\n' } });
    const run = await start('hook', echoPlan([write('.git/config'), edit, { do: 'say', text: 'Done.' }]));
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    expect(fs.readFileSync(path.join(work, '.git/config'), 'utf8')).toBe('[core]\n');
    const [asked] = await store.decisions({ run, status: ['open'] });
    const shown = asked?.decision.proposal as { prompt: string; context: { diff: string } } | undefined;
    expect(shown?.prompt).toContain('It changed what git runs outside of the sandbox: .git/config (core.x = ).');
    expect(shown?.context.diff).toContain('+++ .git/config');
    const resolution = { ...approve, resolutionType: 'choose_option', chosenOptionId: 'apply-all' } as const;
    expect(await host.answer(asked?.decision.id as never, { resolution }, 'ada')).toMatchObject({ ok: true });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect(fs.readFileSync(path.join(work, '.git/config'), 'utf8')).toContain('x');
  });

  it('[A852] a file that changes before the answer makes another proposal of the same decision, which can be answered', async () => {
    const first = await openEchoHome({ resumeOnAnswer: false });
    const { folder, work } = first;
    fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
    const run = await first.start('plan', echoPlan([edit, { do: 'say', text: 'Done.' }], 'apply="ask" retries={0}'));
    expect(await first.end(run)).toMatchObject({ status: 'waiting' });
    const [shown] = await first.store.decisions({ run, status: ['open'] });
    await first.close();
    fs.writeFileSync(path.join(work, 'a.txt'), 'mine\n');
    const { host, store, end } = await openEchoHome({ folder });
    expect(await host.resume(run)).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const [now, ...others] = await store.decisions({ run, status: ['open'] });
    expect([now?.decision.id, others]).toEqual([shown?.decision.id, []]);
    expect(now?.decision.proposal).toMatchObject({
      prompt: expect.stringMatching(/^An agent's changes conflict with what someone else did to a\.txt\./),
      context: { conflicts: [{ path: 'a.txt' }] },
    });
    const answer = (chosenOptionId: string, proposalHash = now?.decision.proposalHash) =>
      host.answer(
        now?.decision.id as never,
        {
          resolution: { ...approve, resolutionType: 'choose_option', chosenOptionId },
          ...(proposalHash && { proposalHash }),
        },
        'ada',
      );
    expect(await answer('apply-all', shown?.decision.proposalHash)).toMatchObject({
      error: { code: 'decision/stale-proposal' },
    });
    expect(await answer('apply-all')).toMatchObject({ ok: true });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first\nedited\n');
  });

  it.skipIf(process.getuid?.() !== 0)(
    '[A853] whose changes find no room waits with them, and takes no turn again',
    async () => {
      const { work, host, store, start, end } = await openEchoHome();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', work]);
      try {
        fs.writeFileSync(path.join(work, 'filler'), Buffer.alloc(200_000, 'x'));
        const big: EchoStep = { ...edit, allowed: [{ do: 'append', file: 'big', text: 'y'.repeat(100_000) }] };
        const run = await start('plan', echoPlan([big, { do: 'say', text: 'Done.' }]));
        expect(await end(run)).toMatchObject({ status: 'waiting' });
        const open = async () => (await store.decisions({ run, status: ['open'] }))[0]?.decision;
        const asked = await open();
        expect(asked?.proposal).toMatchObject({
          prompt: expect.stringMatching(
            /^Echo is done\. Its changes could not be applied: .*is full; free some space there\. Apply its 1 change\?$/,
          ),
        });
        const resolution = { ...approve, resolutionType: 'choose_option', chosenOptionId: 'apply-all' } as const;
        expect(await host.answer(asked?.id as never, { resolution }, 'ada')).toMatchObject({ ok: true });
        // There is still no room, so it is asked again.
        const again = await until(async () => {
          const next = await open();
          return next !== undefined && next.id !== asked?.id ? next : undefined;
        });
        await end(run);
        fs.rmSync(path.join(work, 'filler'));
        expect(await host.answer(again.id as never, { resolution }, 'ada')).toMatchObject({ ok: true });
        await until(async () => (await store.run(run))?.status === 'completed' || undefined);
        expect(fs.statSync(path.join(work, 'big')).size).toBeGreaterThan(100_000 - 1);
        const [task, ...more] = await store.tasks(run);
        const kept = await store.stream(run, task?.id as never, 0, 500);
        const begun = kept.filter(({ payload }) => (payload as { kind?: string }).kind === 'begun');
        expect([begun.length, more]).toEqual([1, []]);
      } finally {
        execFileSync('umount', ['-l', work]);
      }
    },
  );

  it('[A720] drops its changes where they are never applied, and keeps them in the transcript', async () => {
    const { work, store, start, end } = await openEchoHome();
    const run = await start('plan', echoPlan([edit, { do: 'say', text: 'Done.' }], 'apply="never"'));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(fs.readdirSync(work)).toEqual([]);
    const [task] = await store.tasks(run);
    const kept = await store.stream(run, task?.id as never, 0, 500);
    expect(kept.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ kind: 'changes', applied: false, diff: expect.stringContaining('+edited') }),
    );
  });

  it('[A720] the built-in agent refuses to hold its changes', async () => {
    const { start, end, state } = await openEchoHome();
    const run = await start('plan', echoPlan([], 'apply="ask"').replace('plugin="echo"', 'plugin="builtin"'));
    expect(await end(run)).toMatchObject({ status: 'failed' });
    expect((await state(run)).failed).toContain('its agent is the built-in one');
  });

  it('[A714] cannot see the data directory', async () => {
    const { data, start, end, state } = await openEchoHome();
    const token = path.join(fs.realpathSync(data), 'config.json');
    const run = await start('plan', echoPlan([{ do: 'homeRead', file: `../../config.json` }], 'retries={0}'));
    expect(await end(run)).toMatchObject({ status: 'failed' });
    expect((await state(run)).failed).toMatch(new RegExp(`ENOENT.*${path.basename(token)}`, 's'));
  });

  it('[A713] that is named and not there ends the work, and says what to do', async () => {
    const { start, end, state } = await openEchoHome({ config: { agents: { gone: { command: ['/no/such/agent'] } } } });
    for (const [plugin, why] of [
      ['gone', 'The program "/no/such/agent" of agent gone was not found.'],
      ['nobody', 'There is no agent "nobody". Known agents: builtin, '],
    ] as const) {
      const run = await start(plugin, echoPlan([]).replace('plugin="echo"', `plugin="${plugin}"`));
      expect(await end(run)).toMatchObject({ status: 'failed' });
      expect((await state(run)).failed).toContain(`The agent of node agent cannot be used. ${why}`);
    }
  });
});
