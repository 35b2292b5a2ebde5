import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { runEventValue } from '../../test/arbitraries.ts';
import { eventSamples, ids, nodeSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields, without } from '../../test/refusal.ts';
import { canonicalJson } from '../canonical-json.ts';
import { RUN_EVENT_VERSION, type RunEvent, runEvent, saidEvent, stallEvidence } from './event.ts';

const samples = Object.entries(eventSamples);
const ENVELOPE = ['v', 'id', 'runId', 'seq', 'ts', 'type'];

/** Required fields of an event besides the envelope, including `nodeId` if it is about a node. */
const required: { readonly [Type in RunEvent['type']]: readonly string[] } = {
  'run.patch': ['patch'],
  'run.phase': ['phase'],
  'run.mode': ['mode'],
  'run.stalled': ['evidence'],
  'node.patch': ['nodeId', 'patch'],
  'node.progress': ['nodeId', 'summary'],
  'edge.created': ['edge'],
  'edge.deleted': ['edgeId'],
  'handoff.sent': ['handoff'],
  'message.user': ['message'],
  'message.assistant.delta': ['nodeId', 'messageId', 'delta'],
  'message.assistant.final': ['nodeId', 'message'],
  'tool.proposed': ['nodeId', 'tool'],
  'tool.started': ['nodeId', 'toolId'],
  'tool.completed': ['nodeId', 'toolId', 'result'],
  'approval.requested': ['nodeId', 'approvalId', 'tool'],
  'approval.resolved': ['approvalId', 'resolution'],
  'artifact.created': ['artifact'],
};

/** Optional fields of an event. */
const optional: { readonly [Type in RunEvent['type']]?: readonly string[] } = {
  'run.mode': ['globalMode'],
  'node.progress': ['fraction'],
  'handoff.sent': ['edgeId'],
  'tool.completed': ['error'],
  'approval.requested': ['context'],
};

describe('events', () => {
  it('[M39] are of the 18 types of the contract', () => {
    expect(runEvent.options.map(option => option.shape.type.value)).toEqual([
      ...['run.patch', 'run.phase', 'run.mode', 'run.stalled'],
      ...['node.patch', 'node.progress'],
      ...['edge.created', 'edge.deleted'],
      'handoff.sent',
      ...['message.user', 'message.assistant.delta', 'message.assistant.final'],
      ...['tool.proposed', 'tool.started', 'tool.completed'],
      ...['approval.requested', 'approval.resolved'],
      'artifact.created',
    ]);
  });

  it.each(['run.created', 'node.created', 'RUN.PATCH', '', null, undefined])('[M39] are not of type %j', type => {
    expect(refusal(runEvent, { ...eventSamples['run.phase'], type })).toEqual(['type: invalid_union']);
  });

  it.each(samples)('[M40] %s: requires its envelope and what it is about', (type, sample) => {
    expect(requiredFields(runEvent, sample).toSorted()).toEqual(
      [...ENVELOPE, ...required[type as RunEvent['type']]].toSorted(),
    );
  });

  it.each(samples)('[M40] %s: has ids and a time in its envelope', (_, sample) => {
    const changes = [
      { id: 'evt_1' },
      { runId: sample.runId.toUpperCase().replace('0', 'A') },
      { ts: '2026-01-01' },
      { nodeId: 'a' },
    ];
    expect(changes.map(change => refusal(runEvent, { ...sample, ...change }))).toEqual([
      ['id: invalid_format'],
      ['runId: invalid_format'],
      ['ts: invalid_format'],
      ['nodeId: invalid_format'],
    ]);
  });

  it.each(samples)('[M41] %s: is refused in another version', (_, sample) => {
    const versions = [0, 2, '1', null];
    expect(versions.map(v => refusal(runEvent, { ...sample, v }))).toEqual(Array(4).fill(['v: invalid_value']));
    expect([sample.v, RUN_EVENT_VERSION]).toEqual([1, 1]);
  });

  it.each([
    [-1, 'too_small'],
    [0.5, 'invalid_type'],
    ['0', 'invalid_type'],
    [Number.NaN, 'invalid_type'],
    [2 ** 53, 'too_big'],
  ])('[M42] have no seq of %s', (seq, code) => {
    expect(refusal(runEvent, { ...eventSamples['run.phase'], seq })).toEqual([`seq: ${code}`]);
  });

  it('[M42] count from 0 as far as whole numbers go', () => {
    const seqs = [0, 1, Number.MAX_SAFE_INTEGER];
    expect(seqs.map(seq => refusal(runEvent, { ...eventSamples['run.phase'], seq }))).toEqual([[], [], []]);
  });

  it.each(samples)('[M43] %s: carries its fields flat and no other', (type, sample) => {
    const name = type as RunEvent['type'];
    const fields = new Set([...ENVELOPE, 'nodeId', ...required[name], ...(optional[name] ?? [])]);
    expect(Object.keys(sample).toSorted()).toEqual([...fields].toSorted());
    expect(refusal(runEvent, { ...sample, payload: {} })).toEqual([': unrecognized_keys']);
  });

  it('[M43] look as the contract shows them', () => {
    const contract = {
      id: ids.event,
      runId: ids.run,
      ts: '2026-01-01T00:00:00Z',
      type: 'tool.completed',
      nodeId: ids.node,
      toolId: ids.tool,
      result: { ok: true },
      error: { message: 'optional' },
    };
    expect(runEvent.parse({ ...contract, v: 1, seq: 7 })).toEqual({ ...contract, v: 1, seq: 7 });
  });

  it('[M44] of every type survive their canonical text', () => {
    fc.assert(
      fc.property(runEventValue, value => {
        const written = canonicalJson(runEvent.parse(value));
        const read = runEvent.parse(JSON.parse(written));
        expect(read).toEqual(value);
        expect(canonicalJson(read)).toBe(written);
      }),
      { numRuns: 400 },
    );
  });

  it('[M75] of artifacts that were not kept have no number', () => {
    const created = eventSamples['artifact.created'];
    const said = { ...without(created, 'seq'), after: 3, offset: 0 };
    expect(saidEvent.parse(said)).toEqual(said);
    expect(refusal(saidEvent, created)).not.toEqual([]);
    expect(refusal(runEvent, said)).not.toEqual([]);
    expect(requiredFields(saidEvent, said)).toEqual(expect.arrayContaining(['after', 'offset']));
  });

  it('[M43] are told apart by their type', () => {
    const summaryOf = (event: RunEvent) => (event.type === 'node.progress' ? event.summary : undefined);
    expectTypeOf(summaryOf).returns.toEqualTypeOf<string | undefined>();
    expect(summaryOf(runEvent.parse(eventSamples['node.progress']))).toBe('half way');
  });
});

describe('what events carry', () => {
  it.each([
    ['an empty stall', 'run.stalled', { evidence: {} }, 'evidence.kind: invalid_value'],
    ['a stored status in a patch', 'run.patch', { patch: { status: 'stalled' } }, 'patch.status: invalid_value'],
    ['an id in a patch', 'node.patch', { patch: { id: nodeSample.id } }, 'patch: unrecognized_keys'],
    ['more than all of it', 'node.progress', { fraction: 1.1 }, 'fraction: too_big'],
    ['less than none of it', 'node.progress', { fraction: -0.1 }, 'fraction: too_small'],
    ['a delta that is no text', 'message.assistant.delta', { delta: null }, 'delta: invalid_type'],
    ['half a character', 'message.assistant.delta', { delta: '\ud83d' }, 'delta: custom'],
    ['a result without an outcome', 'tool.completed', { result: {} }, 'result.ok: invalid_type'],
    ['an error without a message', 'tool.completed', { error: {} }, 'error.message: invalid_type'],
    [
      'a change without arguments',
      'approval.resolved',
      { resolution: { status: 'modified' } },
      'resolution.modifiedArgs: custom',
    ],
  ] as const)('[M40] refuses %s', (_, type, change, problem) => {
    expect(refusal(runEvent, { ...eventSamples[type], ...change })[0]).toBe(problem);
  });

  const evidence = eventSamples['run.stalled'].evidence;

  it('[M45] evidence of a stall says what came out the same, and how often', () => {
    expect([requiredFields(stallEvidence, evidence), stallEvidence.shape.kind.options]).toEqual([
      ['kind', 'repeats', 'summary'],
      ['repeated_output_hash', 'repeated_diff_hash', 'repeated_verification_failure', 'repeated_frame_signature'],
    ]);
  });

  it.each([
    ['a single time', { repeats: 1 }, 'repeats: too_small'],
    ['another kind', { kind: 'slow' }, 'kind: invalid_value'],
    ['a digest without its algorithm', { digest: evidence.digest?.slice(7) }, 'digest: invalid_format'],
    ['nothing to read', { summary: '' }, 'summary: too_small'],
  ])('[M45] evidence of a stall is not %s', (_, change, problem) => {
    expect(refusal(stallEvidence, { ...evidence, ...change })).toEqual([problem]);
  });

  it('[M45] evidence of a stall needs no digest', () => {
    expect(refusal(stallEvidence, without(evidence, 'digest'))).toEqual([]);
  });
});
