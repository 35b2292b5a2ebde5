import * as fs from 'node:fs';
import path from 'node:path';
import { defaultFleetConfig } from '@signalbox/fleet';
import {
  type AgentEvent,
  createSecretFilter,
  type EventEnvelope,
  err,
  failure,
  type ProjectId,
} from '@signalbox/model';
import type { AgentSession, Assignment } from '@signalbox/runs';
import { detectSandbox } from '@signalbox/state';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openFleetHost } from '../../src/fleet/fleet-host.ts';
import { planAgentId, planAgents } from '../../src/fleet-agents/plan-agents.ts';
import { echoPlan } from '../support/open-echo-home.ts';
import { openFleetHome } from '../support/open-fleet-home.ts';
import { manualMachine } from '../support/run-builders.ts';
import { until } from '../support/until.ts';

const sandbox = await detectSandbox();
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

const edit: EchoStep = {
  ...{ do: 'ask', id: 'e', kind: 'edit', title: 'Write a.txt', name: 'Write', input: { file: 'a.txt' } },
  ...{ locations: [{ path: 'a.txt' }], allowed: [{ do: 'append', file: 'a.txt', text: 'edited' }] },
};
const say: EchoStep = { do: 'say', text: 'Done.' };

const eventsOf = (logged: readonly unknown[]): readonly AgentEvent[] =>
  logged.map(value => (value as { readonly envelope: EventEnvelope }).envelope.event);

type FleetHome = Awaited<ReturnType<typeof openFleetHome>>;

/** The decision that a run waits for. */
const openDecision = ({ home }: FleetHome, run: string) =>
  until(async () => (await home.owned.store.decisions({ run: run as never, status: ['open'] }))[0]?.decision);

/** Processes whose command line has this text. */
function processesWith(text: string): readonly string[] {
  return fs.readdirSync('/proc').flatMap(pid => {
    try {
      const line = /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
      return line.includes(text) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!sandbox.ok)('an agent of a plan', () => {
  it('[A1250, A1251, A1252] is in the fleet with its run, plan and node; what it asks stays in its run and counts for its trust', async () => {
    const home = await openFleetHome();
    const { fleet, runs, work, logged } = home;
    const run = await runs.start(
      'seated',
      echoPlan([{ do: 'plan', entries: ['Write'] }, edit, say], 'permissions="gated"'),
    );
    const id = planAgentId({ run, node: 'agent' as never });
    const decision = await openDecision(home, run);
    const waiting = await until(async () => fleet.agents().find(({ pendingDecisions }) => pendingDecisions === 1));
    expect(waiting).toMatchObject({
      ...{ id, name: 'agent', pluginName: 'echo', workstream: 'test', status: 'running', standing: 'waiting_for_you' },
      of: { run, plan: 'test', node: 'agent' },
    });
    // The queue has it once: it is the run's.
    expect(fleet.queue()).toEqual([]);
    await home.home.host.answer(decision.id, { resolution: approve }, 'ada');
    expect(await runs.end(run)).toMatchObject({ status: 'completed' });
    const done = await home.status(id, 'completed');
    expect(done).toMatchObject({ standing: 'done', pendingDecisions: 0, lives: 1 });
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('edited\n');
    const types = eventsOf(logged('event')).flatMap(({ type, agentId }) => (agentId === id ? [type] : []));
    for (const type of ['progress', 'tool_call', 'artifact', 'message.assistant.final', 'completion', 'lifecycle'])
      expect(types).toContain(type);
    expect([logged('quarantined'), done.messages]).toEqual([
      [],
      expect.objectContaining({ quarantined: 0, repaired: 0, unknownFields: 0 }),
    ]);
    expect(logged('trust')).toMatchObject([
      { agentId: id, cause: 'human_approves_tool_call', decisionId: decision.id, blastRadius: 'small' },
      { agentId: id, cause: 'task_completed_success' },
    ]);
  });

  it('[A1253, A1254] is stopped by a brake in the middle of a command, and does its turn again when it is released', async () => {
    const home = await openFleetHome();
    const { fleet, runs, work } = home;
    const mark = `sleep-${path.basename(home.folder)}`;
    const script = `test -e go || { echo ${mark} > running; exec -a ${mark} sleep 1000; }`;
    const run = await runs.start('long', echoPlan([{ do: 'terminal', command: 'bash', args: ['-c', script] }, say]));
    const decision = await openDecision(home, run);
    await home.home.host.answer(decision.id, { resolution: approve }, 'ada');
    await until(async () => (processesWith(mark).length > 0 ? true : undefined));
    const id = planAgentId({ run, node: 'agent' as never });
    await fleet.brake({ scope: { type: 'all' }, reason: 'look first', behavior: 'pause' } as never, 'ada');
    const paused = await home.status(id, 'paused');
    expect([paused.standing, paused.because, processesWith(mark), fs.readdirSync(work)]).toEqual([
      ...['blocked', 'A brake holds it: look first'],
      ...[[], []],
    ]);
    expect(fleet.brakes().brakes[0]?.agents).toMatchObject([{ agentId: id, silentAfterMs: expect.any(Number) }]);
    expect((await home.home.owned.store.run(run))?.status).toBe('running');
    // A turn of another run does not begin meanwhile.
    const other = await runs.start('other', echoPlan([say]));
    const otherId = planAgentId({ run: other, node: 'agent' as never });
    fs.writeFileSync(path.join(work, 'go'), '');
    expect(fleet.agent(otherId).ok).toBe(false);
    await fleet.releaseBrake(undefined, 'ada');
    const [first, second] = await Promise.all([runs.end(run), runs.end(other)]);
    expect([first, second]).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    expect((await home.status(id, 'completed')).lives).toBe(2);
    expect((await home.status(otherId, 'completed')).lives).toBe(1);
    expect(home.logged('quarantined')).toEqual([]);
  });

  it('[A1254] that is killed fails its task for good, and works again when its run is resumed', async () => {
    const home = await openFleetHome();
    const { fleet, runs } = home;
    const run = await runs.start('killed', echoPlan([edit, { do: 'hang' }], 'permissions="gated"'));
    await openDecision(home, run);
    const id = planAgentId({ run, node: 'agent' as never });
    await home.status(id, 'running');
    await fleet.kill(id, 'wrong branch', 'ada');
    await home.status(id, 'killed');
    await runs.end(run);
    expect((await runs.state(run)).failed).toContain('was killed from the fleet');
    expect(fleet.agent(id)).toMatchObject({ value: { standing: 'dead' } });
  });
});

it('[A1255] works without its fleet if the log of the project cannot be written', async () => {
  const machine = manualMachine();
  const host = await openFleetHost({
    project: '00000000-0000-7000-8000-0000000000f2' as ProjectId,
    log: {
      ...{ project: () => undefined, keptState: () => undefined, projectFacts: () => [], keepState() {} },
      commitToProject: async () =>
        err(failure('project/refused', { message: 'The disk is full.', suggestion: 'Make room.' })),
    } as never,
    machine,
    filter: createSecretFilter({ known: [], mac: String }),
    plugins: [],
    config: defaultFleetConfig,
    onFault() {},
  });
  const session = { signal: new AbortController().signal, keep: async (given: unknown) => given, stream() {} };
  const agents = planAgents({
    machine,
    register: { choose: () => ({ kind: 'builtin' }) },
    fleetOf: async () => ({ host, directory: '/', plan: 'p' }),
    runner: {
      async run(_, given) {
        await given.keep([{ v: 1, kind: 'assistant', content: 'Hello.' }]);
        return { kind: 'done', output: 'Hello.' };
      },
    },
  });
  const assignment = {
    run: '00000000-0000-7000-8000-0000000000a1',
    node: 'n',
    iteration: 0,
    prompt: '',
    directory: '/',
  };
  const outcome = await agents.run(assignment as unknown as Assignment, session as unknown as AgentSession);
  expect([outcome, host.state().agents.agents]).toEqual([{ kind: 'done', output: 'Hello.' }, {}]);
});
