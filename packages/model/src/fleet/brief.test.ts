import {
  type AgentHandleStatus,
  agentBrief,
  agentHandleStatus,
  agentTemplate,
  briefChanges,
  DEFAULT_HISTORY_TURNS,
  DEFAULT_SNAPSHOT_TOKENS,
  defaultResourceLimits,
  handleStatusViews,
  mcpServerConfig,
  sandboxCapability,
  sessionPolicy,
  shadowingKeys,
  toContractNodeStatus,
  workspaceRequirements,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  briefSample,
  mcpServerSamples,
  sessionPolicySample,
  templateSample,
  workspaceSample,
} from '../../test/fleet-plugin-samples.ts';
import { refusal, requiredFields, without } from '../../test/refusal.ts';

describe('a brief', () => {
  it('[M215] requires what every agent has, and has all other fields of the specification', () => {
    const required = requiredFields(agentBrief, briefSample);
    expect(required).toEqual([
      'agentId',
      'role',
      'description',
      'workstream',
      'readableWorkstreams',
      'constraints',
      'escalationProtocol',
      'controlMode',
      'projectBrief',
      'knowledgeSnapshot',
      'allowedTools',
    ]);
    expect(Object.keys(agentBrief.shape).filter(field => !required.includes(field))).toEqual([
      'modelPreference',
      'mcpServers',
      'workspaceRequirements',
      'outputSchema',
      'guardrailPolicy',
      'delegationPolicy',
      'sessionPolicy',
      'contextInjectionPolicy',
      'secretRefs',
      'providerConfig',
    ]);
  });

  it('[M215] has no field for trust, not even in what it says of other agents', () => {
    expect(refusal(agentBrief, { ...briefSample, trustScore: 50 })).toEqual([': unrecognized_keys']);
    const { knowledgeSnapshot: snapshot } = briefSample;
    const activeAgents = snapshot.activeAgents.map(agent => ({ ...agent, trustScore: 50 }));
    expect(refusal(agentBrief, { ...briefSample, knowledgeSnapshot: { ...snapshot, activeAgents } })).toEqual([
      'knowledgeSnapshot.activeAgents.0: unrecognized_keys',
    ]);
  });

  it('[M215] is changed in any of its fields but the identity', () => {
    expect(refusal(briefChanges, without(briefSample, 'agentId'))).toEqual([]);
    expect(refusal(briefChanges, { agentId: briefSample.agentId })).toEqual([': unrecognized_keys']);
  });

  it('[M215] comes from a template, which holds nothing of a project', () => {
    const brief = { ...templateSample.brief, knowledgeSnapshot: briefSample.knowledgeSnapshot };
    expect(refusal(agentTemplate, { ...templateSample, brief })).toEqual(['brief: unrecognized_keys']);
  });

  it('[M216] names the keys of `providerConfig` that are fields of a brief, except below `experimental`', () => {
    expect(
      shadowingKeys({ temperature: 1, allowedTools: [], agentId: 'x', experimental: { allowedTools: [] } }),
    ).toEqual(['allowedTools', 'agentId']);
    expect(shadowingKeys({ toString: 1, constructor: 1 })).toEqual([]);
  });

  it.each([
    ['a number of turns without its policy', { historyPolicy: 'full' }, 'historyN: custom'],
    ['no turns', { historyN: 0 }, 'historyN: too_small'],
  ])('[M215] refuses a session policy with %s', (_, change, problem) => {
    expect(refusal(sessionPolicy, { ...sessionPolicySample, ...change })).toEqual([problem]);
  });

  it.each([
    ['a file', { ...mcpServerSamples[1], url: 'file:///etc/passwd' }, 'url: invalid_format'],
    ['another transport', { ...mcpServerSamples[1], transport: 'sse' }, 'transport: invalid_union'],
    ['no command', { ...mcpServerSamples[0], command: '' }, 'command: too_small'],
  ])('[M215] refuses a server of tools with %s', (_, server, problem) => {
    expect(refusal(mcpServerConfig, server)).toEqual([problem]);
  });

  it('[M215] has the defaults of the specification', () => {
    expect([DEFAULT_HISTORY_TURNS, DEFAULT_SNAPSHOT_TOKENS, defaultResourceLimits]).toEqual([
      50,
      4000,
      { cpuCores: 2, memoryMb: 4096, diskMb: 10_240, timeoutMs: 3_600_000 },
    ]);
  });
});

describe('what a sandbox has', () => {
  const mount = workspaceSample.mounts[0];

  it.each([
    ['a mount of something outside', { mounts: [{ ...mount, hostPath: '../..' }] }, 'mounts.0.hostPath: custom'],
    [
      'a mount at a relative path',
      { mounts: [{ ...mount, sandboxPath: 'src' }] },
      'mounts.0.sandboxPath: invalid_format',
    ],
    [
      'a network that is open and closed',
      { capabilities: ['network_external', 'network_internal_only'] },
      'capabilities: custom',
    ],
    ['a capability that does not exist', { capabilities: ['root'] }, 'capabilities.0: invalid_value'],
    ['no memory', { resourceLimits: { memoryMb: 0 } }, 'resourceLimits.memoryMb: too_small'],
  ])('[M217] is not %s', (_, change, problem) => {
    expect(refusal(workspaceRequirements, { ...workspaceSample, ...change })).toEqual([problem]);
  });

  it('[M217] is one of seven capabilities', () => {
    expect(sandboxCapability.options).toEqual([
      'terminal',
      'browser',
      'git',
      'docker',
      'network_external',
      'network_internal_only',
      'gpu',
    ]);
  });
});

describe('the status of an agent', () => {
  it('[M218] has one status of a node and one of the contract, and the two agree', () => {
    const statuses: readonly AgentHandleStatus[] = agentHandleStatus.options;
    expect(Object.keys(handleStatusViews)).toEqual(statuses);
    expect(
      statuses.map(status => [status, handleStatusViews[status].node, handleStatusViews[status].contract]),
    ).toEqual([
      ['running', 'running', 'running'],
      ['paused', 'blocked', 'blocked'],
      ['waiting_on_human', 'blocked', 'blocked'],
      ['completed', 'succeeded', 'idle'],
      ['error', 'failed', 'failed'],
    ]);
    for (const { node, contract } of Object.values(handleStatusViews))
      expect(toContractNodeStatus(node)).toBe(contract);
  });
});
