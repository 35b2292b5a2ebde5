import {
  approvalResolution,
  artifact,
  artifactKind,
  contractNodeStatus,
  contractRunStatus,
  diffMetadata,
  edge,
  globalMode,
  handoff,
  message,
  node,
  provider,
  run,
  runEvent,
  runMode,
  runPhase,
  saidEvent,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { ids } from './contract-samples.ts';
import { refusal } from './refusal.ts';

const at = '2026-01-01T00:00:00Z';
const tool = { id: ids.tool, name: 'command', args: { cmd: '...' } };
const envelope = { v: 1, seq: 0, id: ids.event, runId: ids.run, ts: at };

const theNode = {
  id: ids.node,
  runId: ids.run,
  label: 'Implementer A',
  roleTemplate: 'implementer',
  provider: 'codex',
  status: 'idle',
  summary: 'short live status',
  lastActivityAt: at,
  capabilities: { spawnNodes: false, writeCode: true, writeDocs: true, runCommands: true, delegateOnly: false },
  permissions: { cliPermissionsMode: 'skip', spawnRequiresApproval: true },
  session: { sessionId: 'provider-session-id', resetCommands: ['/new', '/clear'] },
  connection: { status: 'connected', streaming: true, lastHeartbeatAt: at, lastOutputAt: at },
  inboxCount: 0,
};

/** Every record that the contract shows, word by word; ids are UUIDs and a choice of words is one of them. */
const shown: readonly (readonly [name: string, schema: z.ZodType, value: object])[] = [
  [
    'run state',
    run,
    {
      id: ids.run,
      contractVersion: '1',
      status: 'queued',
      phase: 'BOOT',
      mode: 'AUTO',
      globalMode: 'PLANNING',
      createdAt: at,
      updatedAt: at,
      nodes: { [ids.node]: theNode },
      edges: {},
      artifacts: {},
    },
  ],
  ['node state', node, theNode],
  [
    'edge state',
    edge,
    { id: ids.edge, from: ids.node, to: ids.peer, bidirectional: true, type: 'handoff', label: 'task' },
  ],
  [
    'handoff',
    handoff,
    {
      kind: 'handoff',
      id: ids.payload,
      fromNodeId: ids.node,
      toNodeId: ids.peer,
      createdAt: at,
      payload: {
        message: 'short summary',
        structured: { key: 'value' },
        artifacts: [{ type: 'diff', ref: `artifact://${ids.artifact}` }],
        status: { ok: true, reason: 'tests-pass' },
      },
      contextRef: 'contextpack://pack/789',
    },
  ],
  [
    'user message',
    message,
    {
      id: ids.message,
      runId: ids.run,
      nodeId: ids.node,
      role: 'user',
      content: 'message text',
      interrupt: true,
      createdAt: at,
    },
  ],
  [
    'artifact',
    artifact,
    {
      id: ids.artifact,
      runId: ids.run,
      nodeId: ids.node,
      kind: 'diff',
      name: 'diff.patch',
      path: '/abs/path/to/file',
      createdAt: at,
    },
  ],
  ['diff metadata', diffMetadata, { filesChanged: ['path/a.ts', 'path/b.ts'], summary: 'short change summary' }],
  ['tool.proposed', runEvent, { ...envelope, type: 'tool.proposed', nodeId: ids.node, tool }],
  [
    'tool.completed',
    runEvent,
    {
      ...envelope,
      type: 'tool.completed',
      nodeId: ids.node,
      toolId: ids.tool,
      result: { ok: true },
      error: { message: 'optional' },
    },
  ],
  [
    'approval.requested',
    runEvent,
    {
      ...envelope,
      type: 'approval.requested',
      approvalId: ids.approval,
      nodeId: ids.node,
      tool,
      context: 'optional',
    },
  ],
  [
    'approval.resolved',
    runEvent,
    {
      ...envelope,
      type: 'approval.resolved',
      approvalId: ids.approval,
      resolution: { status: 'modified', modifiedArgs: {} },
    },
  ],
];

/** Every choice of words in the contract. */
const words: readonly (readonly [schema: { readonly options: readonly unknown[] }, contract: string])[] = [
  [contractRunStatus, 'queued | running | paused | completed | failed'],
  [runPhase, 'BOOT | EXECUTE | VERIFY | DOCS_SYNC | DONE'],
  [runMode, 'AUTO | INTERACTIVE'],
  [globalMode, 'PLANNING | IMPLEMENTATION'],
  [provider, 'codex | claude | gemini | custom'],
  [contractNodeStatus, 'idle | running | blocked | failed'],
  [edge.shape.type, 'handoff | report'],
  [message.shape.role, 'user | assistant | system'],
];

describe('the contract', () => {
  it.each(shown)('[M73] %s is taken as it is shown', (_, schema, value) => {
    expect(schema.parse(value)).toEqual(value);
  });

  it.each(words)('[M73] has these words and no other: %#', (schema, contract) => {
    expect(schema.options).toEqual(contract.split(' | '));
  });

  it('[M73] has its kinds of artifacts first, and its answers to approvals', () => {
    expect(artifactKind.options.slice(0, 6)).toEqual(
      'diff | prompt | log | transcript | contextpack | report'.split(' | '),
    );
    expect(approvalResolution.options.map(option => option.shape.status.value)).toEqual([
      'approved',
      'denied',
      'modified',
    ]);
  });

  it('[M74] what an agent says as it works is the same event between two numbers', () => {
    const said = { v: 1, id: ids.event, runId: ids.run, ts: at, nodeId: ids.node, after: 3, offset: 0 };
    const delta = { ...said, type: 'message.assistant.delta', messageId: ids.message, delta: 'Hel' };
    expect(saidEvent.parse(delta)).toEqual(delta);
    expect(refusal(saidEvent, { ...delta, seq: 3 })).not.toEqual([]);
    expect(refusal(runEvent, delta)).not.toEqual([]);
    expect(refusal(saidEvent, { ...said, type: 'run.phase', phase: 'DONE' })).not.toEqual([]);
  });
});
