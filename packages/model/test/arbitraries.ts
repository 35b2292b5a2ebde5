import {
  type ApprovalResolution,
  type Artifact,
  approvalId,
  artifactId,
  artifactKind,
  artifactRefOf,
  type Edge,
  edgeId,
  eventId,
  globalMode,
  type Handoff,
  type Json,
  type JsonObject,
  type Message,
  messageId,
  type Node,
  nodeId,
  payloadId,
  portableHasher,
  type RunEvent,
  runId,
  runMode,
  runPhase,
  type StallEvidence,
  type ToolCall,
  timestamp,
  toolId,
} from '@signalbox/model';
import fc from 'fast-check';

/** Well-formed text of every plane, often empty. */
export const unicode = fc.string({ unit: 'binary', maxLength: 20 });
const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });

/** Any text a JavaScript string can hold, lone surrogates included. */
export const anyString = fc
  .array(
    fc.oneof(
      unicode,
      fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)),
    ),
    {
      maxLength: 20,
    },
  )
  .map(parts => parts.join(''));

/** Plain data without -0, which JSON reads back as 0. */
export const plainData: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => number + 0),
    fc.integer(),
    unicode,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(unicode, fc.constant('__proto__'), fc.constant('toJSON')), tie('value'), { maxKeys: 5 }),
  ),
})).value;

export const plainObject: fc.Arbitrary<JsonObject> = fc.dictionary(unicode, plainData, { maxKeys: 4 });

const idOf = <Id>(schema: { parse(value: string): Id }) => fc.uuid().map(value => schema.parse(value));
const instant = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map(date => timestamp.parse(date.toISOString()));
const maybe = <T>(key: string, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map(some => (some === undefined ? {} : { [key]: some }));

const artifact: fc.Arbitrary<Artifact> = both(
  fc.record({
    id: idOf(artifactId),
    runId: idOf(runId),
    nodeId: idOf(nodeId),
    kind: fc.constantFrom(...artifactKind.options),
    name: word,
    path: word,
    createdAt: instant,
  }),
  maybe('diff', fc.record({ filesChanged: fc.array(unicode, { maxLength: 3 }), summary: unicode })),
);

const edge: fc.Arbitrary<Edge> = fc.record({
  id: idOf(edgeId),
  from: idOf(nodeId),
  to: idOf(nodeId),
  bidirectional: fc.boolean(),
  type: fc.constantFrom('handoff', 'report'),
  label: word,
});

const handoff: fc.Arbitrary<Handoff> = both(
  fc.record({
    kind: fc.constant('handoff' as const),
    id: idOf(payloadId),
    fromNodeId: idOf(nodeId),
    toNodeId: idOf(nodeId),
    createdAt: instant,
    payload: both(
      fc.record({ message: unicode }),
      maybe('structured', plainObject),
      maybe(
        'artifacts',
        fc.array(
          fc.record({ type: fc.constantFrom(...artifactKind.options), ref: idOf(artifactId).map(artifactRefOf) }),
          { maxLength: 2 },
        ),
      ),
      maybe('status', fc.record({ ok: fc.boolean(), reason: unicode })),
    ),
  }),
  maybe('contextRef', word),
);

const message: fc.Arbitrary<Message> = both(
  fc.record({
    id: idOf(messageId),
    runId: idOf(runId),
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: unicode,
    interrupt: fc.boolean(),
    createdAt: instant,
  }),
  maybe('nodeId', idOf(nodeId)),
);

const tool: fc.Arbitrary<ToolCall> = fc.record({ id: idOf(toolId), name: word, args: plainObject });

const resolution: fc.Arbitrary<ApprovalResolution> = fc.oneof(
  fc.constantFrom({ status: 'approved' as const }, { status: 'denied' as const }),
  fc.record({ status: fc.constant('modified' as const), modifiedArgs: plainObject }),
);

const evidence: fc.Arbitrary<StallEvidence> = both(
  fc.record({
    kind: fc.constantFrom('repeated_output_hash', 'repeated_diff_hash', 'repeated_verification_failure'),
    repeats: fc.integer({ min: 2 }),
    summary: word,
  }),
  maybe('digest', unicode.map(portableHasher)),
);

const nodeFields: fc.Arbitrary<Partial<Omit<Node, 'id' | 'runId'>>> = fc.record(
  {
    label: unicode,
    roleTemplate: unicode,
    provider: fc.constantFrom('codex', 'claude', 'gemini', 'custom'),
    plugin: word,
    status: fc.constantFrom('idle', 'running', 'blocked', 'failed'),
    summary: unicode,
    lastActivityAt: instant,
    capabilities: fc.record({
      spawnNodes: fc.boolean(),
      writeCode: fc.boolean(),
      writeDocs: fc.boolean(),
      runCommands: fc.boolean(),
      delegateOnly: fc.boolean(),
    }),
    permissions: fc.record({
      cliPermissionsMode: fc.constantFrom('skip', 'gated'),
      spawnRequiresApproval: fc.boolean(),
    }),
    session: fc.record({ sessionId: unicode, resetCommands: fc.array(unicode, { maxLength: 2 }) }),
    connection: fc.record({
      status: fc.constantFrom('connected', 'idle', 'disconnected'),
      streaming: fc.boolean(),
      lastHeartbeatAt: instant,
      lastOutputAt: instant,
    }),
    inboxCount: fc.nat(),
  },
  { requiredKeys: [] },
);

const runFields = fc.record(
  {
    status: fc.constantFrom('queued', 'running', 'paused', 'completed', 'failed'),
    stopReason: word,
    phase: fc.constantFrom(...runPhase.options),
    mode: fc.constantFrom(...runMode.options),
    globalMode: fc.constantFrom(...globalMode.options),
    updatedAt: instant,
  },
  { requiredKeys: [] },
);

const envelope = fc.record({
  v: fc.constant(1 as const),
  id: idOf(eventId),
  runId: idOf(runId),
  seq: fc.nat(),
  ts: instant,
});

/** Fields of an event by its type: the type of this table fails to compile when an event type is missing. */
const fieldsByType: { readonly [Type in RunEvent['type']]: fc.Arbitrary<object> } = {
  'run.patch': fc.record({ patch: runFields }),
  'run.phase': fc.record({ phase: fc.constantFrom(...runPhase.options) }),
  'run.mode': both(
    fc.record({ mode: fc.constantFrom(...runMode.options) }),
    maybe('globalMode', fc.constantFrom(...globalMode.options)),
  ),
  'run.stalled': fc.record({ evidence }),
  'node.patch': fc.record({ patch: nodeFields }),
  'node.progress': both(
    fc.record({ summary: unicode }),
    maybe(
      'fraction',
      fc.double({ min: 0, max: 1, noNaN: true }).map(number => number + 0),
    ),
  ),
  'edge.created': fc.record({ edge }),
  'edge.deleted': fc.record({ edgeId: idOf(edgeId) }),
  'handoff.sent': both(fc.record({ handoff }), maybe('edgeId', idOf(edgeId))),
  'message.user': fc.record({ message }),
  'message.assistant.delta': fc.record({ messageId: idOf(messageId), delta: unicode }),
  'message.assistant.final': fc.record({ message }),
  'tool.proposed': fc.record({ tool }),
  'tool.started': fc.record({ toolId: idOf(toolId) }),
  'tool.completed': both(
    fc.record({ toolId: idOf(toolId), result: both(fc.record({ ok: fc.boolean() }), maybe('output', plainData)) }),
    maybe('error', fc.record({ message: unicode })),
  ),
  'approval.requested': both(fc.record({ approvalId: idOf(approvalId), tool }), maybe('context', unicode)),
  'approval.resolved': fc.record({ approvalId: idOf(approvalId), resolution }),
  'artifact.created': fc.record({ artifact }),
};

/** A value that the event schema must accept, of any type. */
export const runEventValue: fc.Arbitrary<{ readonly type: string }> = fc.oneof(
  ...Object.entries(fieldsByType).map(([type, fields]) => {
    const node = fc.record({ nodeId: idOf(nodeId) });
    return both(
      fc.record({ type: fc.constant(type) }),
      envelope,
      type.startsWith('run.') ? maybeAll(node) : node,
      fields,
    );
  }),
);

function maybeAll(fields: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.oneof(fields, fc.constant({}));
}

/** One record of the fields of both; absent fields stay absent. */
function both<A extends object, B extends object[]>(
  first: fc.Arbitrary<A>,
  ...rest: { [Index in keyof B]: fc.Arbitrary<B[Index]> }
): fc.Arbitrary<A> {
  return fc.tuple(first, ...(rest as fc.Arbitrary<object>[])).map(parts => Object.assign({}, ...parts) as A);
}
