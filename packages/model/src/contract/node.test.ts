import { describe, expect, it } from 'vitest';
import { nodeSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields, without } from '../../test/refusal.ts';
import { capabilities, connection, contractNodeStatus, node, nodePatch, permissions, provider } from './node.ts';

const OPTIONAL = ['plugin', 'connection', 'inboxCount'];

describe('node', () => {
  it('[M30] requires what the contract does not call optional', () => {
    expect(requiredFields(node, nodeSample)).toEqual(
      Object.keys(nodeSample).filter(field => !OPTIONAL.includes(field)),
    );
  });

  it('[M30] requires every field of its parts', () => {
    const { capabilities: able, permissions: may, connection: line, session } = nodeSample;
    expect([
      requiredFields(capabilities, able),
      requiredFields(permissions, may),
      requiredFields(connection, line ?? {}),
      requiredFields(node.shape.session, session),
    ]).toEqual([
      ['spawnNodes', 'writeCode', 'writeDocs', 'runCommands', 'delegateOnly'],
      ['cliPermissionsMode', 'spawnRequiresApproval'],
      ['status', 'streaming', 'lastHeartbeatAt', 'lastOutputAt'],
      ['sessionId', 'resetCommands'],
    ]);
  });

  it('[M30] has the closed sets of the contract', () => {
    expect([
      provider.options,
      contractNodeStatus.options,
      permissions.shape.cliPermissionsMode.options,
      connection.shape.status.options,
    ]).toEqual([
      ['codex', 'claude', 'gemini', 'custom'],
      ['idle', 'running', 'blocked', 'failed'],
      ['skip', 'gated'],
      ['connected', 'idle', 'disconnected'],
    ]);
  });

  it('[M30] has an empty session id until the vendor gives one', () => {
    const fresh = { ...nodeSample, session: { sessionId: '', resetCommands: [] } };
    expect(node.parse(fresh)).toEqual(fresh);
  });

  it.each([
    ['a stored status', { status: 'succeeded' }, 'status: invalid_value'],
    ['a vendor that the contract does not know', { provider: 'acp' }, 'provider: invalid_value'],
    ['a plugin without a name', { plugin: '' }, 'plugin: too_small'],
    ['a negative inbox', { inboxCount: -1 }, 'inboxCount: too_small'],
    ['half an input', { inboxCount: 0.5 }, 'inboxCount: invalid_type'],
    [
      'a capability that is a word',
      { capabilities: { ...nodeSample.capabilities, writeCode: 'yes' } },
      'capabilities.writeCode: invalid_type',
    ],
    ['a session that is null', { session: null }, 'session: invalid_type'],
    ['an activity of no time', { lastActivityAt: '' }, 'lastActivityAt: invalid_format'],
  ])('[M30] refuses %s', (_, change, problem) => {
    expect(refusal(node, { ...nodeSample, ...change })).toEqual([problem]);
  });
});

describe('node patch', () => {
  it('[M38] holds any field of a node but its ids', () => {
    const whole = without(without(nodeSample, 'id'), 'runId');
    expect([nodePatch.parse(whole), nodePatch.parse({}), nodePatch.parse({ summary: 'x' })]).toEqual([
      whole,
      {},
      { summary: 'x' },
    ]);
  });

  it.each(['id', 'runId'] as const)('[M38] does not hold %s', field => {
    expect(refusal(nodePatch, { [field]: nodeSample[field] })).toEqual([': unrecognized_keys']);
  });

  it('[M38] has whole parts', () => {
    expect(refusal(nodePatch, { permissions: { cliPermissionsMode: 'skip' } })).toEqual([
      'permissions.spawnRequiresApproval: invalid_type',
    ]);
  });
});
