import * as fs from 'node:fs';
import path from 'node:path';
import type { AgentEvent, EventEnvelope } from '@signalbox/model';
import { detectSandbox } from '@signalbox/state';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openFleetHome } from '../support/open-fleet-home.ts';
import { until } from '../support/until.ts';

const sandbox = await detectSandbox();
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
const reject = { ...approve, resolutionType: 'reject', rationale: 'not there' } as const;

const edit: EchoStep = {
  ...{ do: 'ask', id: 'e', kind: 'edit', title: 'Write a.txt', name: 'Write', input: { file: 'a.txt' } },
  ...{ locations: [{ path: 'a.txt' }], allowed: [{ do: 'append', file: 'a.txt', text: 'edited' }] },
};
const say: EchoStep = { do: 'say', text: 'Done.' };

const eventsOf = (logged: readonly unknown[]): readonly AgentEvent[] =>
  logged.map(value => (value as { readonly envelope: EventEnvelope }).envelope.event);

describe.skipIf(!sandbox.ok)('an installed agent of the fleet', () => {
  it('[A1240, A1241, A1242] works on a layer, asks through the queue, and every event of it is accepted as it is', async () => {
    const { fleet, work, spawn, status, asked, logged, agent } = await openFleetHome();
    fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
    const vendorUpdate: EchoStep = {
      ...{ do: 'update', update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
    };
    const id = await spawn('editor', [{ do: 'plan', entries: ['Read', 'Write'] }, vendorUpdate, edit, say]);
    const decision = await asked();
    expect(decision).toMatchObject({
      ...{ agentId: id, severity: 'medium', blastRadius: 'small', status: 'open' },
      subject: {
        ...{ subtype: 'tool_approval', toolName: 'Write' },
        toolArgs: { file: 'a.txt', _shown: { title: 'Write a.txt', kind: 'edit', agent: { id: 'echo' } } },
      },
    });
    expect(agent(id)).toMatchObject({ standing: 'waiting_for_you', handle: { status: 'waiting_on_human' } });
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first\n');
    const { proposalHash } = decision;
    expect(await fleet.resolve(decision.id, { resolution: approve, proposalHash }, 'ada')).toMatchObject({ ok: true });
    await status(id, 'completed');
    expect(fs.readFileSync(path.join(work, 'a.txt'), 'utf8')).toBe('first\nedited\n');
    const events = eventsOf(logged('event')).filter(({ agentId }) => agentId === id);
    expect(events).toContainEqual(expect.objectContaining({ type: 'message.assistant.final', content: 'Done.' }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'completion', outcome: 'success', summary: 'Done.' }),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: 'progress', operationId: 'plan' }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'raw_provider', eventType: 'available_commands_update', providerName: 'echo' }),
    );
    const calls = events.flatMap(event =>
      event.type === 'tool_call' && event.toolName === 'Write' ? [`${event.phase} ${event.approved}`] : [],
    );
    expect(calls).toEqual(['requested false', 'running true', 'completed true']);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'artifact', provenance: expect.objectContaining({ sourcePath: 'work/a.txt' }) }),
    );
    expect([logged('quarantined'), agent(id).messages]).toEqual([
      [],
      expect.objectContaining({ quarantined: 0, repaired: 0, unknownFields: 0, rawProvider: 1 }),
    ]);
    expect(logged('trust')).toMatchObject([
      { agentId: id, cause: 'human_approves_tool_call', decisionId: decision.id },
      { agentId: id, cause: 'task_completed_success' },
    ]);
  });

  it('[A1241] is denied what a person rejects, and is given the arguments that a person wants instead', async () => {
    const { fleet, work, spawn, status, asked } = await openFleetHome();
    const id = await spawn('editor', [
      { ...edit, denied: [{ do: 'say', text: 'Denied.' }] },
      { ...edit, id: 'f', input: { file: 'b.txt' }, denied: [{ do: 'say', text: ' Changed.' }] },
    ]);
    const first = await asked();
    await fleet.resolve(first.id, { resolution: reject }, 'ada');
    const second = await asked(first.id);
    const modifiedArgs = { file: 'c.txt', _shown: {} };
    await fleet.resolve(second.id, { resolution: { ...approve, resolutionType: 'modify', modifiedArgs } }, 'ada');
    await status(id, 'completed');
    expect(fs.readdirSync(work)).toEqual([]);
  });

  it('[A1243] is ended by a pause, with nothing of its turn left, and resumes with what it said and did', async () => {
    const { fleet, work, spawn, status, agent, asked, logged, data } = await openFleetHome();
    const id = await spawn('editor', [{ do: 'say', text: 'Begun.' }, edit, { do: 'hang' }]);
    await fleet.resolve((await asked()).id, { resolution: approve }, 'ada');
    await until(async () =>
      eventsOf(logged('event')).find(event => event.type === 'tool_call' && event.phase === 'completed'),
    );
    await fleet.pause(id, undefined, 'ada');
    const paused = await status(id, 'paused');
    expect([paused.standing, fs.readdirSync(work)]).toEqual(['blocked', []]);
    const layers = path.join(data, 'layers');
    const left = fs.readdirSync(layers).flatMap(layer => fs.readdirSync(path.join(layers, layer, 'upper')));
    expect(left).toEqual([]);
    const before = logged('event').length;
    await fleet.resume(id, 'ada');
    await until(async () => (eventsOf(logged('event')).length > before + 2 ? true : undefined));
    expect(agent(id)).toMatchObject({ status: 'running', lives: 2 });
    await fleet.kill(id, undefined, 'ada');
    expect((await status(id, 'killed')).standing).toBe('dead');
    expect(fs.readdirSync(work)).toEqual([]);
  });

  it('[A1244] is refused, with the reason, if its brief wants what it is not given', async () => {
    const { fleet, status } = await openFleetHome();
    const brief = { role: 'Editor', workstream: 'main', description: 'x' };
    const place = (hostPath: string) => ({
      mounts: [{ hostPath, sandboxPath: '/w', readOnly: false }],
      capabilities: [],
    });
    const cases = [
      [{ workspaceRequirements: place('nowhere') }, 'There is no directory'],
      [{ secretRefs: [{ name: 'K', vaultKey: 'K', scope: 'agent' }] }, 'secretRefs'],
      [{ mcpServers: [{ transport: 'http', name: 'm', url: 'http://127.0.0.1:1/mcp' }] }, 'mcpServers'],
      [{ providerConfig: { temperature: 1 } }, 'temperature'],
    ] as const;
    for (const [more, why] of cases) {
      const spawned = await fleet.spawn({ name: 'x', plugin: 'echo', brief: { ...brief, ...more } } as never, 'ada');
      if (!spawned.ok) throw new Error(spawned.error.message);
      const failed = await status(spawned.value.id, 'error');
      expect(failed.because).toContain(why);
    }
    const missing = await fleet.spawn({ name: 'x', plugin: 'opencode', brief }, 'ada');
    if (missing.ok)
      expect((await status(missing.value.id, 'error')).because).toContain('signalbox agents add opencode');
    else expect(missing.error.code).toBe('fleet/plugin-unknown');
  });

  it('[A1245] goes on in the next process, asks the same question and is given its answer', async () => {
    const first = await openFleetHome();
    const id = await first.spawn('editor', [edit, say]);
    const asked = await first.asked();
    await first.close();
    const second = await openFleetHome({ folder: first.folder });
    // The host that closed paused it; the next one resumes it by itself, and it asks the same question again.
    await second.status(id, 'running');
    expect((await second.asked()).id).toBe(asked.id);
    await second.fleet.resolve(asked.id, { resolution: approve }, 'ada');
    await second.status(id, 'completed');
    expect(fs.readFileSync(path.join(second.work, 'a.txt'), 'utf8')).toBe('edited\n');
    expect(second.logged('quarantined')).toEqual([]);
  });
});
