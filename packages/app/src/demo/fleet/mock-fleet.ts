import type { AgentId, PluginError, Result } from '@signalbox/model';
import { deriveId, err, type PluginRegistration, type ToolRiskClassification } from '@signalbox/model';
import {
  type CapabilityProfile,
  capabilityProfiles,
  createMockPlugin,
  type MockPlugin,
  type MockScenario,
  type MockSpeed,
  mockCoherence,
} from '@signalbox/testkit';
import type { CoherenceServices } from '../../fleet/coherence-services.ts';
import type { OpenPlugin } from '../../fleet/fleet-plugin.ts';
import type { Machine } from '../../machine.ts';

export interface MockFleetOptions {
  readonly scenario: MockScenario;
  readonly machine: Pick<Machine, 'clock' | 'timers'>;
  readonly profile?: CapabilityProfile;
  readonly speed?: MockSpeed;
  /** Who answers decisions that the script answers by itself: the script, or nobody. */
  readonly answers?: boolean;
}

/** The risk of the tools that scenarios use. */
const mockTools: PluginRegistration['toolClassifications'] = [
  { toolPattern: 'Read', defaultSeverity: 'low', defaultBlastRadius: 'trivial' },
  { toolPattern: 'Grep', defaultSeverity: 'low', defaultBlastRadius: 'trivial' },
  { toolPattern: 'Edit', defaultSeverity: 'medium', defaultBlastRadius: 'small' },
  { toolPattern: 'Write', defaultSeverity: 'medium', defaultBlastRadius: 'small' },
  { toolPattern: 'Bash', defaultSeverity: 'high', defaultBlastRadius: 'medium' },
].map(tool => ({ ...tool, defaultConfidence: 0.9, requiresRationale: false }) as ToolRiskClassification);

/** How often scripted time moves. */
const STEP_MS = 50;

/** The plugin `mock`: every agent plays its part of a scenario, with an adapter of its own. */
export function mockFleet({
  scenario,
  machine,
  profile = 'all',
  speed = 1,
  answers = true,
}: MockFleetOptions): OpenPlugin {
  return ports => {
    const adapters = new Map<AgentId, MockPlugin>();
    let cancel: (() => void) | undefined;
    let lastAt = machine.clock.now();
    const adapterOf = (agent: AgentId): MockPlugin => {
      const found = adapters.get(agent);
      if (found !== undefined) return found;
      const adapter = createMockPlugin({
        scenario,
        profile,
        speed,
        transport: ports.transportOf(agent),
        startsAt: machine.clock.now(),
        firstSession: ports.livesOf(agent),
        answer: (decision, resolution) => {
          if (answers) ports.answer(decision, resolution);
        },
        onCrash: ({ id }, reason) => ports.crashed(id, reason),
      });
      adapters.set(agent, adapter);
      return adapter;
    };
    const move = () => {
      const now = machine.clock.now();
      const passed = Math.max(0, now - lastAt);
      lastAt = now;
      for (const adapter of adapters.values()) adapter.advance(passed);
      cancel = machine.timers.after(STEP_MS, move);
    };
    if (speed > 0) cancel = machine.timers.after(STEP_MS, move);
    const on = <T>(agent: AgentId, act: (adapter: MockPlugin) => Promise<Result<T, PluginError>>) => {
      const adapter = adapters.get(agent);
      return adapter === undefined
        ? Promise.resolve(err<PluginError>({ code: 'invalid_state', message: `Agent ${agent} is not running.` }))
        : act(adapter);
    };
    return {
      plugin: {
        name: 'mock',
        version: '1.0.0',
        capabilities: capabilityProfiles[profile],
        spawn: brief => adapterOf(brief.agentId).spawn(brief),
        pause: handle => on(handle.id, adapter => adapter.pause(handle)),
        resume: state => adapterOf(state.agentId).resume(state),
        kill: (handle, request) => on(handle.id, adapter => adapter.kill(handle, request)),
        resolveDecision: (handle, id, resolution) =>
          on(handle.id, adapter => adapter.resolveDecision(handle, id, resolution)),
        injectContext: (handle, injection) => on(handle.id, adapter => adapter.injectContext(handle, injection)),
        updateBrief: (handle, changes) => on(handle.id, adapter => adapter.updateBrief(handle, changes)),
      },
      toolClassifications: mockTools,
      sessionOf(agent) {
        const number = Number(adapters.get(agent)?.agent(agent)?.handle().sessionId.slice('mock-'.length));
        return deriveId('mock-session', agent, number);
      },
      replay: (agent, request) => adapters.get(agent)?.replay(agent, request) ?? false,
      async close() {
        cancel?.();
      },
    };
  };
}

/** The scenario's own judgements, in place of models. */
export function mockServices({ coherence }: MockScenario): CoherenceServices {
  const services = mockCoherence(coherence);
  return {
    similarities: pairs =>
      Promise.all(pairs.map(async ([a, b]) => ({ a, b, score: await services.computeSimilarity(a, b) }))),
    reviews: candidates => services.review(candidates),
  };
}
