import type { GuidedFacts } from '@signalbox/guided/contract';
import {
  type ApprovalId,
  type ArtifactId,
  type Digest,
  deriveId,
  type EventId,
  type Json,
  type MessageId,
  type NodeId,
  type RunEvent,
  type RunId,
  runEvent,
  saidEvent,
  type Timestamp,
} from '@signalbox/model';
import { type AnyEvent, anyEvent, type Decision, type InternalEventType, internalEvent } from '@signalbox/runs';
import { type DomainEvent, type DomainEventKind, domainEventV1 } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { eventSamples } from '../../../../model/test/contract-samples.ts';
import { NODE, RUN, samples } from '../../../../workflow/test/session/event-samples.ts';
import { besideEventOfPlan, contractEventOfGuided, contractEventOfPlan, type PlanFacts } from './contract-event.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const run = deriveId<RunId>('test', 'run');
const approval = deriveId<ApprovalId>('test', 'approval');
const task = deriveId<EventId>('test', 'task');
const hash = `sha256:${'ab'.repeat(32)}` as Digest;
const node = 'build';
const nodeId = deriveId<NodeId>('test', node);
const error = { class: 'terminal', code: 'x', message: 'It broke.' };
const work = { task, node, iteration: 0, attempt: 1 };
const call = { call: 'call-1', tool: 'mail', node, task };
const answer = { resolutionType: 'modify', modifiedArgs: { cmd: 'ls' }, rationale: '', actionKind: 'update' };

/** One internal event of every type, and the contract's event that stands for it. */
const ours: { readonly [Type in InternalEventType]: readonly [fields: object, told: Partial<RunEvent>] } = {
  'run.created': [
    { driver: 'plan', name: 'n' },
    { type: 'run.patch', patch: { phase: 'BOOT', mode: 'AUTO', updatedAt: at } },
  ],
  'run.claimed': [
    { epoch: 1, owner: 'me' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'run.held': [
    { reason: 'full', since: at },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'run.resumed': [{ changed: [] }, { type: 'run.patch', patch: { updatedAt: at } }],
  'run.status': [
    { from: 'running', to: 'stopped', stopReason: 'enough' },
    { type: 'run.patch', patch: { status: 'failed', stopReason: 'enough', updatedAt: at } },
  ],
  'frame.committed': [
    { frame: 0, trigger: { kind: 'start' }, mounted: 1, unmounted: 0, digest: hash },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'node.status': [
    { node, frame: 0, from: 'running', to: 'blocked', blockReason: 'asks' },
    { type: 'node.patch', nodeId, patch: { status: 'blocked', summary: 'blocked: asks', lastActivityAt: at } },
  ],
  'state.changed': [
    { frame: 0, index: 0, key: 'k', node },
    { type: 'node.progress', nodeId, summary: 'wrote k' },
  ],
  'task.started': [work, { type: 'node.progress', nodeId, summary: 'attempt 1 began' }],
  'task.progressed': [
    { ...work, detail: { message: 'half' } },
    { type: 'node.progress', nodeId, summary: 'half' },
  ],
  'task.ended': [
    { ...work, outcome: 'error', error, stale: false },
    { type: 'node.progress', nodeId, summary: 'error: It broke.' },
  ],
  'task.retry': [
    { ...work, error, retryAt: at },
    { type: 'node.progress', nodeId, summary: `will be retried at ${at}: It broke.` },
  ],
  'task.orphaned': [
    { ...work, action: 'retry' },
    { type: 'node.progress', nodeId, summary: 'lost its process: retry' },
  ],
  'handler.ran': [
    { node, handler: 'onFinished', frame: 0 },
    { type: 'node.progress', nodeId, summary: 'onFinished ran' },
  ],
  'handler.failed': [
    { node, handler: 'onError', frame: 0, error: 'no' },
    { type: 'node.progress', nodeId, summary: 'onError failed: no' },
  ],
  'effect.ran': [
    { node, effect: 'e', frame: 0 },
    { type: 'node.progress', nodeId, summary: 'effect e ran' },
  ],
  'effect.cleaned': [
    { node, effect: 'e', frame: 0 },
    { type: 'node.progress', nodeId, summary: 'effect e was cleaned up' },
  ],
  'effect.failed': [
    { node, effect: 'e', frame: 0, error: 'no' },
    { type: 'node.progress', nodeId, summary: 'effect e failed: no' },
  ],
  'file.written': [
    { path: 'a.txt', digest: hash, bytes: 1, frame: 0, node },
    { type: 'node.progress', nodeId, summary: 'wrote a.txt' },
  ],
  'decision.asked': [
    { decision: approval, node, kind: 'command_exec', proposalHash: hash },
    { type: 'approval.requested', nodeId, approvalId: approval, context: 'to clean up' },
  ],
  'decision.proposed': [
    { decision: approval, proposalHash: `sha256:${'00'.repeat(32)}` },
    { type: 'approval.requested', nodeId, approvalId: approval, context: 'the proposal has changed since' },
  ],
  'decision.answered': [
    { decision: approval, resolution: answer, by: 'ada' },
    {
      type: 'approval.resolved',
      approvalId: approval,
      resolution: { status: 'modified', modifiedArgs: { cmd: 'ls' } },
    },
  ],
  'decision.withdrawn': [
    { decision: approval },
    { type: 'approval.resolved', approvalId: approval, resolution: { status: 'denied' } },
  ],
  'decision.delivered': [{ decision: approval }, { type: 'node.progress', nodeId, summary: 'was answered' }],
  'signal.received': [{ name: 'go', payload: { n: 1 }, by: 'ada' }, { type: 'message.user' }],
  'operator.acted': [
    { action: 'retry', node, by: 'ada' },
    { type: 'node.progress', nodeId, summary: 'ada asked for retry' },
  ],
  'run.forked': [
    { by: 'ada', effects: [] },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'state.edited': [
    { key: 'k', frame: 0, by: 'ada', reason: 'r' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'node.policy': [
    { node, policy: { retries: 1 }, by: 'ada' },
    { type: 'node.progress', nodeId, summary: 'ada changed its retry rules' },
  ],
  'message.said': [
    { task, node, index: 3 },
    { type: 'message.assistant.final', nodeId },
  ],
  'call.proposed': [
    { ...call, index: 4 },
    { type: 'tool.proposed', nodeId },
  ],
  'call.began': [call, { type: 'tool.started', nodeId }],
  'call.ended': [
    { ...call, outcome: 'unknown' },
    { type: 'tool.completed', nodeId, result: { ok: false }, error: { message: 'mail: unknown' } },
  ],
  'call.undone': [
    { ...call, paths: [], by: 'ada' },
    { type: 'node.progress', nodeId, summary: 'ada undid mail' },
  ],
  'run.rolled_back': [
    { ...call, fork: run, by: 'ada' },
    { type: 'node.progress', nodeId, summary: `ada rolled back to before mail; continues as run ${run}` },
  ],
  'run.kept': [
    { kept: true, by: 'ada' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'run.collapsed': [
    { frames: [], by: 'ada' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'run.redacted': [
    { records: [3], name: 'TOKEN', by: 'ada', why: 'it leaked' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'event.gone': [{}, { type: 'run.patch', patch: { updatedAt: at } }],
  'run.imported': [
    { run, head: hash, bundle: hash, by: 'ada' },
    { type: 'run.patch', patch: { updatedAt: at } },
  ],
  'usage.recorded': [
    { call: 'c', node },
    { type: 'node.progress', nodeId, summary: 'used a model' },
  ],
  'model.called': [
    { call: 'c', node, task, provider: 'p', model: 'm', input: 1, output: 2 },
    { type: 'node.progress', nodeId, summary: 'called p:m' },
  ],
  'model.answered': [
    { call: 'c', node, task, provider: 'p', model: 'm', outcome: 'cut', unknown: ['output'] },
    { type: 'node.progress', nodeId, summary: 'p:m: cut' },
  ],
  'model.refused': [
    { call: 'c', node, task, provider: 'p', model: 'm', reason: 'no more' },
    { type: 'node.progress', nodeId, summary: 'was refused a call of p:m' },
  ],
};

const decision = {
  id: approval,
  node,
  kind: 'command_exec',
  proposal: { tool: 'shell', args: { cmd: 'rm' }, why: 'to clean up' },
  proposalHash: hash,
  call: 'call-1',
} as unknown as Decision;
const message = deriveId<MessageId>('test', 'message');
/** Messages that an agent kept, by index. */
const kept: { readonly [index: number]: { readonly payload: Json; readonly message: MessageId } } = {
  3: { payload: { kind: 'assistant', content: [{ type: 'text', text: 'Done.' }, { type: 'image' }] }, message },
  4: { payload: { kind: 'tool_begun', call: 'call-1', tool: 'mail', input: { to: 'ada' } }, message },
  5: { payload: { kind: 'tool_ended', output: { type: 'error-text', value: 'No such address.' } }, message },
  6: { payload: { call: 'call-1', tool: 'mail', outcome: 'canceled', message: 'It was undone.' }, message },
};
const facts: PlanFacts = {
  nodeOf: given => (given === node ? nodeId : undefined),
  decision: id => (id === approval ? decision : undefined),
  proposedIn: () => undefined,
  turn: () => [],
  kept: (_, index) => kept[index],
};
const envelope = (type: string) => ({ v: 1, id: deriveId<EventId>('test', type), runId: run, seq: 7, ts: at, type });
const eventOf = (type: InternalEventType): AnyEvent => anyEvent.parse({ ...envelope(type), ...ours[type][0] });

/** One event of every kind of a guided session, and the contract's event that stands for it. */
const guided: { readonly [Kind in DomainEventKind]: RunEvent['type'] } = {
  session_created: 'run.mode',
  run_started: 'run.patch',
  node_created: 'node.patch',
  edge_created: 'edge.created',
  advance_recorded: 'node.patch',
  node_output_appended: 'message.assistant.final',
  preferences_changed: 'node.progress',
  capability_observed: 'node.progress',
  observation_recorded: 'run.patch',
  gap_recorded: 'node.progress',
  divergence_recorded: 'node.progress',
  decision_trace_appended: 'node.progress',
  context_set: 'run.patch',
};
const place: GuidedFacts = { run: RUN, seq: 3, at, stepAt: () => ({ title: 'Look around' }) };
const domainEvent = (kind: DomainEventKind, data: object = {}): DomainEvent => {
  const [given, dedupeKey] = samples[kind];
  const event = { v: 1, eventId: deriveId<EventId>('test', kind), eventIndex: 5, dedupeKey, ...given };
  return { ...event, data: { ...given.data, ...data } } as unknown as DomainEvent;
};

describe('the contract’s event of an event', () => {
  it('[A134] there is one for every type of ours and every kind of a guided session, and for nothing else', () => {
    expect(Object.keys(ours).toSorted()).toEqual(
      internalEvent.options.map(option => option.shape.type.value).toSorted(),
    );
    expect(Object.keys(guided).toSorted()).toEqual(
      domainEventV1.options.map(option => option.shape.kind.value).toSorted(),
    );
  });

  it.each(Object.keys(ours) as InternalEventType[])('[A134] %s fits the contract, in the same place', type => {
    const event = eventOf(type);
    const told = contractEventOfPlan(event, facts);
    expect(runEvent.parse(told)).toEqual(told);
    const { v, id, runId, seq, ts } = event;
    expect(told).toMatchObject({ v, id, runId, seq, ts, ...ours[type][1] });
  });

  it.each(Object.keys(ours) as InternalEventType[])(
    '[A135] %s about a node that the contract does not show says only that the run moved',
    type => {
      const told = contractEventOfPlan(eventOf(type), {
        nodeOf: () => undefined,
        decision: () => undefined,
        proposedIn: () => undefined,
        turn: () => [],
        kept: () => undefined,
      });
      expect(runEvent.parse(told)).toEqual(told);
      expect('nodeId' in told).toBe(false);
      if ('node' in eventOf(type))
        expect([told.type, 'patch' in told && told.patch]).toEqual(['run.patch', { updatedAt: at }]);
    },
  );

  it('[A146] [A582] the end of a turn that was completed is told by its diff, and the rest of it before, without a number', () => {
    const artifactOf = (kind: 'prompt' | 'diff') => ({
      ...{ id: deriveId<ArtifactId>('test', kind), runId: run, nodeId, kind, name: kind },
      ...{ path: 'artifact://x', createdAt: at },
    });
    const turn: PlanFacts = {
      ...facts,
      turn: id => (String(id) === task ? [artifactOf('prompt'), artifactOf('diff')] : []),
    };
    const ended = (outcome: string) => anyEvent.parse({ ...envelope('task.ended'), ...work, outcome, stale: false });
    const told = (outcome: string) => {
      const beside = besideEventOfPlan(ended(outcome), turn).map(event => saidEvent.parse(event));
      return [
        beside.map(event => event.type === 'artifact.created' && event.artifact.kind),
        runEvent.parse(contractEventOfPlan(ended(outcome), turn)).type,
      ];
    };
    expect(told('done')).toEqual([['prompt'], 'artifact.created']);
    expect(told('canceled')).toEqual([['prompt', 'diff'], 'node.progress']);
    expect(besideEventOfPlan(eventOf('task.started'), turn)).toEqual([]);
    const places = besideEventOfPlan(ended('canceled'), turn).map(({ after, offset }) => [after, offset]);
    expect(places).toEqual([
      [6, 0],
      [6, 1],
    ]);
    expect(besideEventOfPlan(ended('done'), turn)).toEqual(besideEventOfPlan(ended('done'), turn));
  });

  it('[A581] messages and calls are told with what the agent kept of them', () => {
    const told = (type: InternalEventType, fields: object) =>
      runEvent.parse(contractEventOfPlan(anyEvent.parse({ ...envelope(type), ...fields }), facts));
    expect(told('message.said', { task, node, index: 3 })).toMatchObject({
      message: { id: message, runId: run, nodeId, role: 'assistant', content: 'Done.', createdAt: at },
    });
    const [proposed, began, failed] = [
      told('call.proposed', { ...call, index: 4 }),
      told('call.began', call),
      told('call.ended', { ...call, outcome: 'failed', index: 5 }),
    ];
    const toolId = began.type === 'tool.started' ? began.toolId : undefined;
    expect(proposed).toMatchObject({ tool: { id: toolId, name: 'mail', args: { to: 'ada' } } });
    expect(failed).toMatchObject({ toolId, result: { ok: false }, error: { message: 'No such address.' } });
    expect(told('call.ended', { ...call, outcome: 'canceled', index: 6 })).toMatchObject({
      error: { message: 'It was undone.' },
    });
    expect(told('call.ended', { ...call, outcome: 'succeeded', index: 5 })).not.toHaveProperty('error');
  });

  it('[A581] garbage, and what is not there any more, is told as little', () => {
    for (const payload of [undefined, null, 7, [], {}, { content: [{ type: 'text' }], input: 'x', output: 3 }]) {
      const given = payload === undefined ? undefined : { payload, message };
      for (const type of ['message.said', 'call.proposed', 'call.ended'] as const) {
        const event = anyEvent.parse({ ...envelope(type), ...ours[type][0], index: 9 });
        const told = contractEventOfPlan(event, { ...facts, kept: () => given });
        expect(runEvent.parse(told)).toEqual(told);
      }
    }
  });

  it.each(Object.values(eventSamples))('[A134] the contract’s own are told as they are', sample => {
    expect(contractEventOfPlan(sample, facts)).toEqual(sample);
  });

  it.each(Object.keys(guided) as DomainEventKind[])('[A134] %s of a guided session fits the contract', kind => {
    const event = domainEvent(kind);
    const told = contractEventOfGuided(event, place);
    expect(runEvent.parse(told)).toEqual(told);
    expect([told.type, told.runId, told.seq, told.ts]).toEqual([guided[kind], RUN, 3, at]);
    if ('scope' in event && event.scope !== undefined) expect(told.id).toBe(event.eventId);
  });

  it('[A134] an event of a session is told apart in each of its runs', () => {
    const other = deriveId<RunId>('test', 'other');
    const ids = [RUN, other].map(of => contractEventOfGuided(domainEvent('session_created'), { ...place, run: of }).id);
    expect(new Set(ids).size).toBe(2);
  });

  it('[A134] the end of a workflow ends the run, and is no node of it', () => {
    const over: GuidedFacts = { ...place, stepAt: () => 'complete' };
    expect(contractEventOfGuided(domainEvent('node_created'), over)).toMatchObject({
      type: 'run.phase',
      phase: 'DONE',
    });
    expect(contractEventOfGuided(domainEvent('edge_created'), over)).toMatchObject({
      type: 'run.patch',
      patch: { status: 'completed', phase: 'DONE' },
    });
  });

  it('[A134] what only a person can give is asked for and answered; what was handed in is kept', () => {
    const reason = { category: 'user_only_dependency', detail: 'needs_user_choice' };
    const gapId = deriveId<ApprovalId>('test', 'gap');
    const asked = domainEvent('gap_recorded', { gapId, reason, resolution: { kind: 'unresolved' } });
    expect(runEvent.parse(contractEventOfGuided(asked, place))).toMatchObject({
      type: 'approval.requested',
      approvalId: gapId,
      nodeId: NODE,
      tool: { name: 'needs_user_choice' },
    });
    const resolution = { kind: 'resolves', resolvesGapId: gapId };
    for (const [given, told] of [
      [{ kind: 'approved' }, { status: 'approved' }],
      [{ kind: 'denied' }, { status: 'denied' }],
      [
        { kind: 'answered', value: 'two' },
        { status: 'modified', modifiedArgs: { value: 'two' } },
      ],
      [undefined, { status: 'approved' }],
    ] as const) {
      const settled = domainEvent('gap_recorded', { reason, resolution, answer: given });
      expect(runEvent.parse(contractEventOfGuided(settled, place))).toMatchObject({
        type: 'approval.resolved',
        approvalId: gapId,
        resolution: told,
      });
    }
    const payload = { payloadKind: 'artifact_ref', sha256: hash, contentType: 'application/json', byteLength: 2 };
    const kept = domainEvent('node_output_appended', { outputChannel: 'artifact', payload });
    expect(runEvent.parse(contractEventOfGuided(kept, place))).toMatchObject({
      type: 'artifact.created',
      nodeId: NODE,
    });
    const blockers = [{ code: 'USER_ONLY_DEPENDENCY', message: 'It lacks a yes.' }];
    const stopped = domainEvent('advance_recorded', { outcome: { kind: 'blocked', blockers: { blockers } } });
    expect(contractEventOfGuided(stopped, place)).toMatchObject({
      type: 'node.patch',
      patch: { status: 'blocked', summary: 'It lacks a yes.' },
    });
  });
});
