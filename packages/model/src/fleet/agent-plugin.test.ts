import {
  type AgentHandle,
  type AgentPlugin,
  type AgentRegistry,
  artifactUploadResult,
  CHECKPOINTS_KEPT,
  type ConsoleArea,
  consoleArea,
  crashRecoveryPolicy,
  defaultCrashRecovery,
  defaultKillRequest,
  FORCED_KILL_MS,
  fleetMessage,
  type InProcessTransport,
  killRequest,
  type PluginCapability,
  type PluginRegistration,
  type PluginTransport,
  pluginCapabilities,
  pluginError,
  pluginErrorPlans,
  STATE_MAX_BYTES,
  sandboxInfo,
  serializedAgentState,
  tick,
  transportAddress,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  addressSamples,
  briefSample,
  messageSamples,
  pluginErrorSamples,
  sandboxSample,
  stateSample,
  uploadedSample,
} from '../../test/fleet-plugin-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';

describe('a plugin', () => {
  it('[M223] has four capabilities', () => {
    const capabilities: readonly PluginCapability[] = pluginCapabilities.keyof().options;
    expect(capabilities).toEqual(['supportsPause', 'supportsResume', 'supportsKill', 'supportsHotBriefUpdate']);
  });

  it('[M224] fails in six ways, each with what is done about it', () => {
    expect(pluginErrorPlans).toEqual({
      provider_unavailable: { first: 'retry', otherwise: 'fail' },
      invalid_state: { first: 'respawn', otherwise: 'fail' },
      decision_not_found: { first: 'note', otherwise: 'note' },
      rate_limited: { first: 'retry', otherwise: 'fail' },
      context_overflow: { first: 'compact', otherwise: 'fail' },
      capability_unsupported: { first: 'note', otherwise: 'note' },
    });
    expect(Object.keys(pluginErrorSamples)).toEqual(Object.keys(pluginErrorPlans));
  });

  it.each([
    ['another code', { code: 'unlucky' }, 'code: invalid_union'],
    ['no word on retries', { code: 'provider_unavailable', message: '529' }, 'retryable: invalid_type'],
    [
      'a capability that does not exist',
      { code: 'capability_unsupported', capability: 'supportsUndo' },
      'capability: invalid_value',
    ],
    ['a wait that is over before', { code: 'rate_limited', retryAfterMs: -1 }, 'retryAfterMs: too_small'],
  ])('[M224] does not fail with %s', (_, error, problem) => {
    expect(refusal(pluginError, error)).toEqual([problem]);
  });
});

/** A plugin without agents: what a registry does before anything was started. */
const nobody: AgentPlugin = {
  name: 'nobody',
  version: '1',
  capabilities: { supportsPause: false, supportsResume: false, supportsKill: false, supportsHotBriefUpdate: false },
  spawn: async () => ({ ok: false, error: pluginErrorSamples.provider_unavailable }),
  pause: async () => ({ ok: false, error: pluginErrorSamples.invalid_state }),
  resume: async () => ({ ok: false, error: pluginErrorSamples.invalid_state }),
  kill: async () => ({ ok: false, error: pluginErrorSamples.invalid_state }),
  resolveDecision: async () => ({ ok: false, error: pluginErrorSamples.decision_not_found }),
  injectContext: async () => ({ ok: false, error: pluginErrorSamples.invalid_state }),
  updateBrief: async () => ({ ok: false, error: pluginErrorSamples.invalid_state }),
};

describe('a call of a plugin', () => {
  it('[M224] returns its failure, as an error that can be stored', async () => {
    const { plugin }: PluginRegistration = { plugin: nobody, toolClassifications: [] };
    const spawn: AgentRegistry['spawnAgent'] = brief => plugin.spawn(brief);
    const gone: AgentHandle = { id: briefSample.agentId, pluginName: 'nobody', status: 'error', sessionId: '' };
    const outcomes = await Promise.all([spawn(briefSample, 'nobody'), plugin.kill(gone), plugin.pause(gone)]);
    expect(outcomes.map(outcome => !outcome.ok && pluginError.parse(outcome.error).code)).toEqual([
      'provider_unavailable',
      'invalid_state',
      'invalid_state',
    ]);
  });
});

describe('the state of an agent', () => {
  it('[M225] is what its plugin goes on from; a summary of the conversation is optional', () => {
    expect(
      Object.keys(stateSample).filter(field => !requiredFields(serializedAgentState, stateSample).includes(field)),
    ).toEqual(['conversationSummary']);
    expect(refusal(serializedAgentState, { ...stateSample, lastSequence: -1 })).toEqual([]);
    expect(refusal(serializedAgentState, { ...stateSample, checkpoint: { sdk: 'unknown' } })).toEqual([
      'checkpoint.sdk: invalid_union',
    ]);
    expect([STATE_MAX_BYTES, CHECKPOINTS_KEPT]).toEqual([52_428_800, 3]);
  });

  it('[M226] is saved by a kill with grace, of ten seconds unless told otherwise', () => {
    expect(killRequest.parse(defaultKillRequest)).toEqual({ grace: true, graceTimeoutMs: 10_000 });
    expect([refusal(killRequest, {}), FORCED_KILL_MS]).toEqual([['grace: invalid_type'], 5000]);
  });

  it('[M226] is restored after a crash only if a person says so, unless told otherwise', () => {
    expect(crashRecoveryPolicy.parse(defaultCrashRecovery)).toEqual({
      autoRestart: false,
      autoRestartConditions: { minTrustScore: 70, maxConsecutiveCrashes: 3, cooldownMs: 30_000 },
      preferResumeOverRestart: true,
    });
  });
});

describe('the place of an agent', () => {
  it.each([
    [
      'an address that is no server',
      { ...addressSamples[1], rpcEndpoint: 'ftp://localhost' },
      'rpcEndpoint: invalid_format',
    ],
    [
      'events by HTTP',
      { ...addressSamples[1], eventStreamEndpoint: 'http://localhost/events' },
      'eventStreamEndpoint: invalid_format',
    ],
    [
      'a container without a health address',
      { type: 'container', sandboxId: 'x', rpcEndpoint: 'http://x', eventStreamEndpoint: 'ws://x' },
      'healthEndpoint: invalid_type',
    ],
  ])('[M227] is not %s', (_, address, problem) => {
    expect(refusal(transportAddress, address)).toEqual([problem]);
  });

  it('[M227] in this process has a sink for events, which is not written down', () => {
    const own: InProcessTransport = { type: 'in_process', eventSink: () => undefined };
    const transport: PluginTransport = own;
    expect(refusal(sandboxInfo, { ...sandboxSample, transport })).toEqual(['transport: unrecognized_keys']);
    expect(refusal(sandboxInfo, { ...sandboxSample, lastHeartbeatAt: null })).toEqual([]);
  });

  it('[M227] sends artifacts to the backend, which names them by `artifact://<artifactId>`', () => {
    expect(refusal(artifactUploadResult, { ...uploadedSample, backendUri: '/tmp/report.md' })).toEqual([
      'backendUri: invalid_format',
    ]);
  });
});

describe('a message of the fleet', () => {
  it('[M228] is one of five, for one of five areas of the console', () => {
    const areas: readonly ConsoleArea[] = ['briefing', 'queue', 'map', 'brief_editor', 'controls'];
    expect(consoleArea.options).toEqual(areas);
    expect(Object.values(messageSamples).map(message => fleetMessage.parse(message).type)).toEqual([
      'event',
      'state_sync',
      'brake',
      'trust_update',
      'decision_resolved',
    ]);
  });

  it('[M228] about an event that is only logged names no area', () => {
    expect(refusal(fleetMessage, { ...messageSamples.event, workspace: null })).toEqual([]);
    expect(refusal(fleetMessage, { ...messageSamples.event, workspace: 'cellar' })).toEqual([
      'workspace: invalid_value',
    ]);
  });
});

describe('a tick', () => {
  it.each([-1, 0.5, '1', Number.NaN])('[M214] is a whole number from 0, not %j', value => {
    expect(refusal(tick, value)).not.toEqual([]);
    expect(refusal(tick, 0)).toEqual([]);
  });
});
