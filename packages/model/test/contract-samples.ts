import {
  type Artifact,
  approvalId,
  artifactId,
  artifactRefOf,
  type Edge,
  edgeId,
  eventId,
  type Handoff,
  type Message,
  messageId,
  type Node,
  nodeId,
  payloadId,
  type Run,
  type RunEvent,
  runId,
  type ToolCall,
  timestamp,
  toolId,
} from '@signalbox/model';

/** One whole value of each kind, every optional field present. */

export const at = timestamp.parse('2026-01-01T00:00:00Z');
const later = timestamp.parse('2026-01-01T00:00:01.500Z');

const id = (last: string) => `01900000-0000-7000-8000-${last.padStart(12, '0')}`;
export const ids = {
  run: runId.parse(id('1')),
  node: nodeId.parse(id('2')),
  peer: nodeId.parse(id('3')),
  edge: edgeId.parse(id('4')),
  payload: payloadId.parse(id('5')),
  artifact: artifactId.parse(id('6')),
  event: eventId.parse(id('7')),
  message: messageId.parse(id('8')),
  tool: toolId.parse(id('9')),
  approval: approvalId.parse(id('a')),
};

export const artifactSample: Artifact = {
  id: ids.artifact,
  runId: ids.run,
  nodeId: ids.node,
  kind: 'diff',
  name: 'diff.patch',
  path: '/abs/path/to/file',
  createdAt: at,
  diff: { filesChanged: ['path/a.ts', 'path/b.ts'], summary: 'short change summary' },
};

export const edgeSample: Edge = {
  id: ids.edge,
  from: ids.node,
  to: ids.peer,
  bidirectional: true,
  type: 'handoff',
  label: 'task',
};

export const handoffSample: Handoff = {
  kind: 'handoff',
  id: ids.payload,
  fromNodeId: ids.node,
  toNodeId: ids.peer,
  createdAt: at,
  payload: {
    message: 'short summary',
    structured: { key: 'value' },
    artifacts: [{ type: 'diff', ref: artifactRefOf(ids.artifact) }],
    status: { ok: true, reason: 'tests-pass' },
  },
  contextRef: 'contextpack://pack/789',
};

export const messageSample: Message = {
  id: ids.message,
  runId: ids.run,
  nodeId: ids.node,
  role: 'user',
  content: 'message text',
  interrupt: true,
  createdAt: at,
};

export const nodeSample: Node = {
  id: ids.node,
  runId: ids.run,
  label: 'Implementer A',
  roleTemplate: 'implementer',
  provider: 'codex',
  plugin: 'codex-app-server',
  status: 'idle',
  summary: 'short live status',
  lastActivityAt: at,
  capabilities: { spawnNodes: false, writeCode: true, writeDocs: true, runCommands: true, delegateOnly: false },
  permissions: { cliPermissionsMode: 'skip', spawnRequiresApproval: true },
  session: { sessionId: 'provider-session-id', resetCommands: ['/new', '/clear'] },
  connection: { status: 'connected', streaming: true, lastHeartbeatAt: at, lastOutputAt: later },
  inboxCount: 0,
};

export const runSample: Run = {
  id: ids.run,
  contractVersion: '1',
  status: 'failed',
  stopReason: 'stopped by a person',
  phase: 'EXECUTE',
  mode: 'AUTO',
  globalMode: 'IMPLEMENTATION',
  createdAt: at,
  updatedAt: later,
  nodes: { [ids.node]: nodeSample },
  edges: { [ids.edge]: edgeSample },
  artifacts: { [ids.artifact]: artifactSample },
};

export const toolSample: ToolCall = { id: ids.tool, name: 'command', args: { cmd: 'ls' } };

const envelope = { v: 1, id: ids.event, runId: ids.run, seq: 0, ts: at, nodeId: ids.node } as const;

type OfType<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** One of each type: the type of this table fails to compile when an event type has no sample. */
export const eventSamples: { readonly [Type in RunEvent['type']]: OfType<Type> } = {
  'run.patch': { ...envelope, type: 'run.patch', patch: { status: 'running', updatedAt: at } },
  'run.phase': { ...envelope, type: 'run.phase', phase: 'VERIFY' },
  'run.mode': { ...envelope, type: 'run.mode', mode: 'INTERACTIVE', globalMode: 'PLANNING' },
  'run.stalled': {
    ...envelope,
    type: 'run.stalled',
    evidence: {
      kind: 'repeated_output_hash',
      repeats: 3,
      digest: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as NonNullable<
        OfType<'run.stalled'>['evidence']['digest']
      >,
      summary: 'the same output three times',
    },
  },
  'node.patch': { ...envelope, type: 'node.patch', patch: { status: 'running' } },
  'node.progress': { ...envelope, type: 'node.progress', summary: 'half way', fraction: 0.5 },
  'edge.created': { ...envelope, type: 'edge.created', edge: edgeSample },
  'edge.deleted': { ...envelope, type: 'edge.deleted', edgeId: ids.edge },
  'handoff.sent': { ...envelope, type: 'handoff.sent', edgeId: ids.edge, handoff: handoffSample },
  'message.user': { ...envelope, type: 'message.user', message: messageSample },
  'message.assistant.delta': { ...envelope, type: 'message.assistant.delta', messageId: ids.message, delta: 'he' },
  'message.assistant.final': {
    ...envelope,
    type: 'message.assistant.final',
    message: { ...messageSample, role: 'assistant', interrupt: false },
  },
  'tool.proposed': { ...envelope, type: 'tool.proposed', tool: toolSample },
  'tool.started': { ...envelope, type: 'tool.started', toolId: ids.tool },
  'tool.completed': {
    ...envelope,
    type: 'tool.completed',
    toolId: ids.tool,
    result: { ok: false, output: [1, 'two', null] },
    error: { message: 'exit code 1' },
  },
  'approval.requested': {
    ...envelope,
    type: 'approval.requested',
    approvalId: ids.approval,
    tool: toolSample,
    context: 'why it is asked',
  },
  'approval.resolved': {
    ...envelope,
    type: 'approval.resolved',
    approvalId: ids.approval,
    resolution: { status: 'modified', modifiedArgs: { cmd: 'ls -l' } },
  },
  'artifact.created': { ...envelope, type: 'artifact.created', artifact: artifactSample },
};
