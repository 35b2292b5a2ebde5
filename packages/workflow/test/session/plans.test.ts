import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, type Digest, TRUNCATION_MARKER, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { preferencesAt, projectPreferences } from '../../src/projections/effective-preferences.ts';
import { projectGaps } from '../../src/projections/gaps.ts';
import { projectRunContexts } from '../../src/projections/run-context.ts';
import { projectRunDags } from '../../src/projections/run-dag.ts';
import { planAdvance } from '../../src/session/advance-plan.ts';
import { nextAttemptId, nextCheckpointId } from '../../src/session/attempts.ts';
import { budgets } from '../../src/session/bounded-text.ts';
import { planCheckpoint } from '../../src/session/checkpoint-plan.ts';
import type { DomainEvent } from '../../src/session/domain-event.ts';
import { draftOf, type Place } from '../../src/session/event-draft.ts';
import { planGapAnswer, proposalHash } from '../../src/session/gap-answer-plan.ts';
import { historyFault } from '../../src/session/history-fault.ts';
import { newObservations } from '../../src/session/observation-plan.ts';
import { planPreferences } from '../../src/session/preference-plan.ts';
import { recordedAdvance, recordedCheckpoint, requireRecordedAdvance } from '../../src/session/recorded-facts.ts';
import { planStart } from '../../src/session/start-plan.ts';
import {
  attempt,
  errorOf,
  filesUnder,
  type GuidedSession,
  guidedSession,
  pendingAt,
  SESSION,
  value,
} from './guided-session.ts';

const kindsOf = (events: readonly { readonly kind: string }[]) => events.map(event => event.kind);

const artifact = (digit: string, contentType = 'application/json') => ({
  sha256: `sha256:${digit.repeat(64)}` as Digest,
  contentType,
  byteLength: 3,
});

const approval = {
  reason: { category: 'user_only_dependency', detail: 'needs_user_approval' },
  summary: 'The person approves the plan.',
} as const;

const missing = {
  reason: { category: 'contract_violation', detail: 'missing_required_output' },
  summary: 'The findings are missing.',
} as const;

const blockedBy = (gap: typeof approval | typeof missing) => ({
  outcome: {
    kind: 'blocked',
    blockers: [
      { code: 'USER_ONLY_DEPENDENCY', pointer: { kind: 'workflow_step', stepId: 'first' }, message: gap.summary },
    ],
  } as const,
  gaps: [gap],
});

const everything = {
  notesMarkdown: 'Done.',
  artifacts: [artifact('b'), artifact('a', 'text/plain'), artifact('a'), artifact('b')],
  contextDelta: { seen: 1 },
  gaps: [missing],
  capabilities: [
    {
      capability: 'delegation',
      status: 'unavailable',
      provenance: {
        kind: 'manual_claim',
        enforcementGrade: 'weak',
        detail: { claimedBy: 'agent', claim: 'unavailable' },
      },
    },
  ],
  divergences: [{ reason: 'efficiency_skip', summary: 'Skipped.' }],
  trace: [{ kind: 'selected_next_step', summary: 'The second follows the first.' }],
} as const;

async function started(): Promise<{ session: GuidedSession; root: Place }> {
  const session = guidedSession();
  return { session, root: await session.start() };
}

describe('a start', () => {
  it('[W71] records the session, the run, its context and its root, once', async () => {
    const session = guidedSession();
    const start = {
      context: { ticket: 'ABC-1', gone: null },
      observations: [
        { key: 'git_branch', value: { type: 'short_string', value: 'main' }, confidence: 'high' },
      ] as const,
      preferences: { delta: [{ key: 'autonomy', value: 'full_auto_never_stop' }] as const },
    };
    const root = await session.start(start);
    expect(kindsOf(session.events())).toEqual([
      'session_created',
      'observation_recorded',
      'run_started',
      'context_set',
      'node_created',
      'preferences_changed',
    ]);
    expect(historyFault(session.events())).toBeUndefined();
    expect(projectRunContexts(session.events()).get(root.runId)?.context).toEqual({ ticket: 'ABC-1' });
  });

  it('[W71] a second run joins the session', async () => {
    const { session, root } = await started();
    const second = await session.start({ attemptId: attempt('second') });
    expect(second.runId).not.toBe(root.runId);
    expect(kindsOf(session.events())).toEqual([
      'session_created',
      'run_started',
      'node_created',
      'run_started',
      'node_created',
    ]);
    expect(historyFault(session.events())).toBeUndefined();
  });

  it('[W71] a context that is too large, or no plain data, is refused with its size', () => {
    const start = (context: unknown) =>
      planStart(nodeHasher, [], {
        sessionId: SESSION,
        attemptId: attempt('start'),
        workflow: {
          workflowId: 'w',
          workflowHash: artifact('a').sha256,
          workflowSourceKind: 'user',
          workflowSourceRef: '',
        },
        state: { kind: 'init' },
        context: context as never,
      });
    const error = errorOf(start({ blob: 'x'.repeat(budgets.context) }));
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { measuredBytes: budgets.context + 11, maxBytes: budgets.context, method: 'RFC 8785 (JCS) UTF-8 bytes' },
    });
    expect(errorOf(start({ when: new Date(0) })).message).toContain('not plain JSON');
    expect(errorOf(start(JSON.parse('{"constructor":1}'))).message).toContain('the key constructor is reserved');
    expect(errorOf(start([1])).message).toContain('must be an object');
  });
});

describe('an attempt', () => {
  it('[W72] planned again is the same bytes, and appended again changes nothing, 100 times', async () => {
    const { session, root } = await started();
    const made = { attemptId: attempt(1), ...everything };
    const history = session.events();
    const node = session.node(root);
    const outcome = { kind: 'advanced', state: pendingAt('second', 'first') } as const;
    const plan = () => value(planAdvance(nodeHasher, history, node, { outcome, ...made }));
    const first = plan();
    await session.append(first);
    const files = filesUnder(session.disk, 'home');
    for (let time = 0; time < 100; time++) {
      expect(canonicalJson(plan().plan)).toBe(canonicalJson(first.plan));
      expect(await session.append(time % 2 === 0 ? first : session.plan(root, made))).toBe(false);
    }
    expect(filesUnder(session.disk, 'home')).toBe(files);
  });

  it('[W73] N attempts from one place make N branches', async () => {
    const { session, root } = await started();
    const places = [];
    for (let branch = 0; branch < 12; branch++)
      places.push(await session.advance(root, { attemptId: attempt(branch) }));
    const dag = projectRunDags(session.events()).get(root.runId);
    expect(dag?.nodes.get(root.nodeId)?.children).toEqual(places.map(place => place.nodeId));
    expect(new Set(places.map(place => place.nodeId)).size).toBe(12);
    expect(dag?.edges.map(edge => edge.cause.kind)).toEqual(['intentional_fork', ...Array(11).fill('non_tip_advance')]);
    expect(historyFault(session.events())).toBeUndefined();
    const traced = session.events().filter(event => event.kind === 'decision_trace_appended');
    expect(traced.length).toBe(11);
  });

  it('[W73] one attempt id at two places is two attempts', async () => {
    const { session, root } = await started();
    const second = await session.advance(root, { attemptId: attempt(1) });
    const third = await session.advance(second, { attemptId: attempt(1) });
    expect(new Set([root.nodeId, second.nodeId, third.nodeId]).size).toBe(3);
  });

  it('[W74] the next one offered is the same until one is recorded, and then another', async () => {
    const { session, root } = await started();
    const offered = nextAttemptId(session.events(), root);
    expect(nextAttemptId(session.events(), root)).toBe(offered);
    await session.advance(root, { attemptId: offered, ...blockedBy(missing) });
    const after = nextAttemptId(session.events(), root);
    expect(after).not.toBe(offered);
    const next = await session.advance(root, { attemptId: after });
    const again = nextAttemptId(session.events(), root);
    await session.advance(next);
    expect(nextAttemptId(session.events(), root)).toBe(again);
    expect(
      new Set([offered, after, nextAttemptId(session.events(), root), nextAttemptId(session.events(), next)]).size,
    ).toBe(4);
  });

  it('[W75] records its outcome, notes, artifacts by digest and type, and the rest, in one order', async () => {
    const { session, root } = await started();
    const before = session.events().length;
    await session.advance(root, everything);
    const events = session.events().slice(before);
    expect(kindsOf(events)).toEqual([
      'advance_recorded',
      'node_output_appended',
      'node_output_appended',
      'node_output_appended',
      'node_output_appended',
      'gap_recorded',
      'capability_observed',
      'divergence_recorded',
      'context_set',
      'decision_trace_appended',
      'node_created',
      'edge_created',
    ]);
    const payloads = events.flatMap(event => (event.kind === 'node_output_appended' ? [event.data.payload] : []));
    expect(payloads).toEqual([
      { payloadKind: 'notes', notesMarkdown: 'Done.' },
      { payloadKind: 'artifact_ref', ...artifact('a') },
      { payloadKind: 'artifact_ref', ...artifact('a', 'text/plain') },
      { payloadKind: 'artifact_ref', ...artifact('b') },
    ]);
    expect(historyFault(session.events())).toBeUndefined();
  });

  it('[W75] notes are cut to their budget', async () => {
    const { session, root } = await started();
    await session.advance(root, { notesMarkdown: 'ü'.repeat(4000) });
    const [notes] = session
      .events()
      .flatMap(event => (event.kind === 'node_output_appended' ? [event.data.payload] : []));
    const text = notes?.payloadKind === 'notes' ? notes.notesMarkdown : '';
    expect(text.endsWith(TRUNCATION_MARKER)).toBe(true);
    expect(utf8Length(text)).toBeLessThanOrEqual(4096);
  });

  it.each<[string, object, string]>([
    ['no blockers', { outcome: { kind: 'blocked', blockers: [] } }, 'blockers.blockers'],
    ['half a character', { notesMarkdown: '\ud83d' }, 'output.notesMarkdown'],
    ['an artifact without a digest', { artifacts: [{ ...artifact('a'), sha256: 'abc' }] }, 'artifact.sha256'],
    ['a context that grows too large', { contextDelta: { b: 'x'.repeat(200_000) } }, 'context takes'],
    ['a gap without words', { gaps: [{ ...missing, summary: '' }] }, 'gap.summary'],
    [
      'an unknown capability',
      { capabilities: [{ ...everything.capabilities[0], capability: 'flying' }] },
      'capability.capability',
    ],
    ['an unknown divergence', { divergences: [{ reason: 'mood', summary: 's' }] }, 'divergence.reason'],
  ])('[W75] %s is refused before anything is planned', async (_name, made, where) => {
    const session = guidedSession();
    const root = await session.start({ context: { a: 'x'.repeat(200_000) } });
    const planned = planAdvance(nodeHasher, session.events(), session.node(root), {
      attemptId: attempt(1),
      outcome: { kind: 'advanced', state: { kind: 'complete' } },
      ...made,
    });
    expect(errorOf(planned)).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(errorOf(planned).message).toContain(where);
  });
});

describe('a blocked attempt', () => {
  it('[W76] is recorded with its gaps, adds no place, and the same gap is not told twice', async () => {
    const { session, root } = await started();
    expect(await session.advance(root, blockedBy(missing))).toEqual(root);
    await session.advance(root, blockedBy(missing));
    expect(kindsOf(session.events().slice(3))).toEqual(['advance_recorded', 'gap_recorded', 'advance_recorded']);
    expect(projectGaps(session.events()).map(gap => gap.resolvedBy)).toEqual([undefined]);
  });

  it('[W76] an attempt that gets through settles what blocked earlier ones, not what it discloses again', async () => {
    const { session, root } = await started();
    await session.advance(root, blockedBy(missing));
    await session.advance(root, blockedBy(approval));
    await session.advance(root, { gaps: [approval] });
    const open = projectGaps(session.events()).filter(gap => gap.resolvedBy === undefined);
    expect(open.map(gap => gap.reason.detail)).toEqual(['needs_user_approval']);
    expect(historyFault(session.events())).toBeUndefined();
  });
});

describe('a replay', () => {
  it('[W77] answers with what is recorded', async () => {
    const { session, root } = await started();
    const view = () => value(session.journal.read());
    expect(recordedAdvance(view(), root, attempt(1))).toEqual({ ok: true, value: undefined });
    await session.advance(root, { attemptId: attempt(1), ...blockedBy(missing) });
    expect(value(requireRecordedAdvance(view(), root, attempt(1)))?.kind).toBe('blocked');
    const next = await session.advance(root, { attemptId: attempt(2) });
    const replayed = value(requireRecordedAdvance(view(), root, attempt(2)));
    expect(replayed).toMatchObject({ kind: 'advanced', node: session.node(next) });
  });

  it('[W77] a record that lacks a part, or is not there where it must be, fails closed', async () => {
    const { session, root } = await started();
    await session.advance(root, { attemptId: attempt(1) });
    const without = (kind: DomainEvent['kind']) => {
      const left = session.events().filter(event => event.kind !== kind);
      return { find: (key: string) => left.find(event => event.dedupeKey === key) };
    };
    for (const kind of ['node_created', 'edge_created'] as const) {
      expect(errorOf(recordedAdvance(without(kind), root, attempt(1))).code).toBe('SESSION_INVARIANT_VIOLATION');
    }
    expect(errorOf(requireRecordedAdvance(without('advance_recorded'), root, attempt(1))).code).toBe(
      'SESSION_INVARIANT_VIOLATION',
    );
  });
});

describe('a checkpoint', () => {
  it('[W78] marks a place without leaving it, once per attempt', async () => {
    const { session, root } = await started();
    const view = () => value(session.journal.read());
    const attemptId = nextCheckpointId(session.events(), root);
    expect(recordedCheckpoint(view(), root, attemptId)).toEqual({ ok: true, value: undefined });
    const plan = value(planCheckpoint(session.node(root), { attemptId, notesMarkdown: 'So far.' }));
    expect([await session.append(plan), await session.append(plan)]).toEqual([true, false]);
    const marked = value(recordedCheckpoint(view(), root, attemptId));
    expect(marked?.data).toEqual({ ...session.node(root).data, nodeKind: 'checkpoint', parentNodeId: root.nodeId });
    expect(
      projectRunDags(session.events())
        .get(root.runId)
        ?.edges.map(edge => edge.cause.kind),
    ).toEqual(['checkpoint_created']);
    expect(nextCheckpointId(session.events(), root)).not.toBe(attemptId);
    await session.advance(root);
    expect(projectRunDags(session.events()).get(root.runId)?.edges.at(-1)?.cause.kind).toBe('intentional_fork');
    expect(historyFault(session.events())).toBeUndefined();
    const edgeless = {
      find: (key: string) => session.events().find(event => event.dedupeKey === key && event.kind !== 'edge_created'),
    };
    expect(errorOf(recordedCheckpoint(edgeless, root, attemptId)).code).toBe('SESSION_INVARIANT_VIOLATION');
  });
});

describe('an answer to a gap', () => {
  async function waiting() {
    const { session, root } = await started();
    await session.advance(root, blockedBy(approval));
    const [gap] = projectGaps(session.events());
    if (gap === undefined) throw new Error('no gap');
    return { session, root, gap };
  }

  it('[W79] resolves it, once; the second is told the first', async () => {
    const { session, gap } = await waiting();
    const shown = proposalHash(nodeHasher, gap);
    const plan = value(planGapAnswer(nodeHasher, SESSION, session.events(), gap.gapId, { kind: 'approved', shown }));
    if (plan.kind !== 'answer') throw new Error('was answered before');
    await session.append(plan);
    const again = value(planGapAnswer(nodeHasher, SESSION, session.events(), gap.gapId, { kind: 'denied' }));
    expect(again).toMatchObject({ kind: 'answered', gap: { answer: { kind: 'approved', shown } } });
    expect(historyFault(session.events())).toBeUndefined();
  });

  it('[W79] two at the same time record the one that came first', async () => {
    const { session, gap } = await waiting();
    const history = session.events();
    const plans = (['denied', 'approved'] as const).map(kind =>
      value(planGapAnswer(nodeHasher, SESSION, history, gap.gapId, { kind })),
    );
    const isNew = [];
    for (const plan of plans) isNew.push(plan.kind === 'answer' && (await session.append(plan)));
    expect(isNew).toEqual([true, false]);
    expect(projectGaps(session.events())[0]?.answer).toEqual({ kind: 'denied' });
  });

  it('[W79] to something else than what was shown, or to no such gap, is refused', async () => {
    const { session, root, gap } = await waiting();
    const answer = (gapId: typeof gap.gapId, shown?: Digest) =>
      errorOf(
        planGapAnswer(nodeHasher, SESSION, session.events(), gapId, { kind: 'approved', ...(shown && { shown }) }),
      ).code;
    expect(answer(gap.gapId, artifact('a').sha256)).toBe('decision/stale-proposal');
    expect(answer(root.nodeId as never)).toBe('decision/unknown');
    await session.advance(root, blockedBy(missing));
    const other = projectGaps(session.events()).find(known => known.reason.category === 'contract_violation');
    expect(answer(other?.gapId ?? gap.gapId)).toBe('decision/unknown');
    const long = { kind: 'answered', value: 'x'.repeat(5000) } as const;
    expect(errorOf(planGapAnswer(nodeHasher, SESSION, session.events(), gap.gapId, long)).code).toBe(
      'VALIDATION_ERROR',
    );
  });
});

describe('changes between steps', () => {
  it('[W80] preferences change at a place and hold from there on', async () => {
    const { session, root } = await started();
    const next = await session.advance(root);
    const delta = [{ key: 'autonomy', value: 'full_auto_stop_on_user_deps' }] as const;
    await session.append(
      value(planPreferences(session.events(), root, { attemptId: attempt(1), source: 'user', delta })),
    );
    const risk = [{ key: 'riskPolicy', value: 'aggressive' }] as const;
    await session.append(
      value(planPreferences(session.events(), next, { attemptId: attempt(1), source: 'system', delta: risk })),
    );
    const dag = projectRunDags(session.events()).get(root.runId);
    if (dag === undefined) throw new Error('no run');
    const at = (place: Place) => preferencesAt(projectPreferences(session.events()), dag, place.nodeId);
    expect(at(root)).toEqual({ autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'conservative' });
    expect(at(next)).toEqual({ autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' });
    const twice = [...delta, ...delta];
    expect(
      errorOf(planPreferences(session.events(), root, { attemptId: attempt(2), source: 'user', delta: twice })).code,
    ).toBe('VALIDATION_ERROR');
  });

  it('[W81] a context is merged key by key, and null deletes', async () => {
    const session = guidedSession();
    const root = await session.start({ context: { a: { x: 1 }, b: 2, c: 3 } });
    const next = await session.advance(root, { contextDelta: { a: { y: 2 }, b: null, d: [null] } });
    expect(projectRunContexts(session.events()).get(root.runId)?.context).toEqual({ a: { y: 2 }, c: 3, d: [null] });
    await session.advance(next);
    expect(projectRunContexts(session.events()).get(root.runId)?.context).toEqual({ a: { y: 2 }, c: 3, d: [null] });
  });

  it('[W82] what was observed before is not recorded again', async () => {
    const { session } = await started();
    const seen = (branch: string) =>
      ({ key: 'git_branch', value: { type: 'short_string', value: branch }, confidence: 'high' }) as const;
    const unseen = (...observed: ReturnType<typeof seen>[]) =>
      value(newObservations(SESSION, session.events(), observed));
    const first = unseen(seen('main'), seen('main'));
    expect(first.length).toBe(1);
    await session.append({ snapshots: [], plan: { events: first.map(draftOf) } });
    expect(unseen(seen('main'))).toEqual([]);
    expect(unseen(seen('main'), seen('topic')).length).toBe(1);
    expect(errorOf(newObservations(SESSION, [], [seen('x'.repeat(81))])).code).toBe('VALIDATION_ERROR');
  });
});
