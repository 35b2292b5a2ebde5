import {
  ADAPTER_EVENT_MAX_BYTES,
  type AdapterSessionId,
  type AgentId,
  deriveId,
  type EventId,
  utf8Bytes,
} from '@signalbox/model';

export interface MalformedEvent {
  readonly kind: string;
  /** As it arrives. */
  readonly raw: Uint8Array;
  /** Why it cannot be used, for a person. */
  readonly sentence: string;
}

/** Every way in which a message of an adapter can be wrong that nothing can repair: twelve kinds, of one agent. */
export function malformedEvents(agentId: AgentId): readonly MalformedEvent[] {
  const status = { type: 'status', agentId, message: 'Reading' };
  const approval = {
    type: 'decision',
    subtype: 'tool_approval',
    agentId,
    decisionId: deriveId('malformed', agentId),
    toolArgs: {},
  };
  const whole = {
    sourceEventId: deriveId<EventId>('malformed-event', agentId),
    sourceSequence: 0,
    sourceOccurredAt: '2026-01-01T00:00:00Z',
    runId: deriveId<AdapterSessionId>('malformed-session', agentId),
    event: status,
  };
  const { sourceEventId: _, ...anonymous } = whole;
  return [
    of('empty', ' \n', 'The message is empty.'),
    {
      kind: 'not UTF-8',
      raw: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      sentence: 'The message is not UTF-8 text.',
    },
    of(
      'cut off',
      '{"sourceEventId": "0190',
      'The message is not JSON, or not all of it: "{\\"sourceEventId\\": \\"0190"',
    ),
    of('not an object', '[1, 2]', 'The message must be an object, not a list.'),
    of(
      'too large',
      JSON.stringify('x'.repeat(ADAPTER_EVENT_MAX_BYTES)),
      `The message has ${ADAPTER_EVENT_MAX_BYTES + 2} bytes; ${ADAPTER_EVENT_MAX_BYTES} are allowed.`,
    ),
    of('without identity', anonymous, '"sourceEventId" is missing.'),
    of(
      'without a place in the order',
      { ...whole, sourceSequence: -1 },
      '"sourceSequence" must be at least 0; it is -1.',
    ),
    of(
      'without a time',
      { ...whole, sourceOccurredAt: 'yesterday' },
      '"sourceOccurredAt" must be a time in UTC such as 2026-01-01T00:00:00Z, not "yesterday".',
    ),
    of(
      'of an unknown type',
      { ...whole, event: { ...status, type: 'thought' } },
      '"event.type" is not a known value: "thought".',
    ),
    of('without a needed field', { ...whole, event: approval }, '"event.toolName" is missing.'),
    of(
      'with another type of value',
      { ...whole, event: { ...status, message: 3 } },
      '"event.message" must be text, not 3.',
    ),
    of(
      'with a value out of range',
      { ...whole, event: { ...approval, toolName: 'Bash', confidence: 7 } },
      '"event.confidence" must be at most 1; it is 7.',
    ),
  ];
}

function of(kind: string, message: string | object, sentence: string): MalformedEvent {
  return { kind, raw: utf8Bytes(typeof message === 'string' ? message : JSON.stringify(message)), sentence };
}
