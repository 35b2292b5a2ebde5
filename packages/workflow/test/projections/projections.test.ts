import { type NodeId, type RunId, TRUNCATION_MARKER, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { capabilityAt, enforceableStatus, projectCapabilities } from '../../src/projections/capabilities.ts';
import { preferencesAt, projectPreferences } from '../../src/projections/effective-preferences.ts';
import { projectGaps } from '../../src/projections/gaps.ts';
import { projectNodeOutputs, recapNotes } from '../../src/projections/node-outputs.ts';
import { projectObservations } from '../../src/projections/observations.ts';
import { projectRunDags, type RunDag } from '../../src/projections/run-dag.ts';
import { projectRunStatus } from '../../src/projections/run-status.ts';
import { type SessionHealth, sessionGate } from '../../src/projections/session-gate.ts';
import { projectSession, viewBudgets } from '../../src/projections/session-view.ts';
import type { CapabilityProvenance } from '../../src/session/capability.ts';
import { planCheckpoint } from '../../src/session/checkpoint-plan.ts';
import { type DomainEvent, domainEventV1, type EventFacts } from '../../src/session/domain-event.ts';
import { draftOf, type Place } from '../../src/session/event-draft.ts';
import { guidedId, type OutputId } from '../../src/session/ids.ts';
import { planPreferences } from '../../src/session/preference-plan.ts';
import { defaultPreferences, exceedsRecommendation, modePresets } from '../../src/session/preferences.ts';
import { attempt, type GuidedSession, guidedSession, pendingAt, SESSION, value } from '../session/guided-session.ts';

function dagOf(session: GuidedSession, place: Place): RunDag {
  const dag = projectRunDags(session.events()).get(place.runId);
  if (dag === undefined) throw new Error('no run');
  return dag;
}

const missing = {
  reason: { category: 'contract_violation', detail: 'missing_required_output' },
  summary: 'The findings are missing.',
} as const;

const complete = { outcome: { kind: 'advanced', state: { kind: 'complete' } } } as const;

const blocked = {
  outcome: {
    kind: 'blocked',
    blockers: [{ code: 'MISSING_REQUIRED_OUTPUT', pointer: { kind: 'workflow_step', stepId: 'first' }, message: 'm' }],
  },
  gaps: [missing],
} as const;

/** Events from facts, with indexes in their order. */
function eventsOf(...facts: readonly EventFacts[]): readonly DomainEvent[] {
  return facts.map((fact, eventIndex) =>
    domainEventV1.parse({ ...draftOf(fact), v: 1, eventIndex, sessionId: SESSION }),
  );
}

const run = guidedId<RunId>('p', 'run');
const node = guidedId<NodeId>('p', 'node');

describe('the preferred tip', () => {
  it('[W83] is the leaf whose history was touched last', async () => {
    const session = guidedSession();
    const root = await session.start();
    const old = await session.advance(root, { attemptId: attempt('old') });
    const young = await session.advance(root, { attemptId: attempt('young') });
    expect(dagOf(session, root).preferredTip?.nodeId).toBe(young.nodeId);
    await session.advance(old, { ...blocked, attemptId: attempt('x') });
    expect(dagOf(session, root).preferredTip).toEqual({
      nodeId: old.nodeId,
      lastActivity: session.events().length - 1,
    });
  });

  it('[W83] among equals it is the youngest', async () => {
    const session = guidedSession();
    const root = await session.start();
    await session.advance(root, { attemptId: attempt('old') });
    const young = await session.advance(root, { attemptId: attempt('young') });
    const delta = [{ key: 'riskPolicy', value: 'balanced' }] as const;
    const plan = planPreferences(session.events(), root, { attemptId: attempt(1), source: 'user', delta });
    await session.append(value(plan));
    const dag = dagOf(session, root);
    expect(dag.preferredTip).toEqual({ nodeId: young.nodeId, lastActivity: session.events().length - 1 });
  });

  it('[W83] attempts and traces touch nothing', async () => {
    const session = guidedSession();
    const root = await session.start();
    const old = await session.advance(root, { attemptId: attempt('old') });
    const young = await session.advance(root, { attemptId: attempt('young') });
    await session.advance(old, { ...blocked, gaps: [], trace: [{ kind: 'selected_next_step', summary: 's' }] });
    expect(dagOf(session, root).preferredTip?.nodeId).toBe(young.nodeId);
  });

  it('[W83] is per run', async () => {
    const session = guidedSession();
    const first = await session.start();
    const second = await session.start({ attemptId: attempt('second') });
    expect(dagOf(session, first).preferredTip?.nodeId).toBe(first.nodeId);
    expect(dagOf(session, second).preferredTip?.nodeId).toBe(second.nodeId);
  });
});

describe('the status of a run', () => {
  const statusOf = (session: GuidedSession, place: Place, preferences = defaultPreferences) =>
    projectRunStatus(dagOf(session, place), projectGaps(session.events()), preferences, session.engineStateOf);

  it('[W84] is blocked by a critical gap at its tip where the mode can be stopped', async () => {
    const session = guidedSession();
    const root = await session.start();
    expect(statusOf(session, root)).toBe('in_progress');
    await session.advance(root, blocked);
    expect(statusOf(session, root, modePresets.guided)).toBe('blocked');
    expect(statusOf(session, root, modePresets.full_auto_stop_on_user_deps)).toBe('blocked');
    expect(statusOf(session, root, modePresets.full_auto_never_stop)).toBe('in_progress');
    await session.advance(root);
    expect(statusOf(session, root)).toBe('in_progress');
  });

  it('[W84] a gap that is no critical one, or unexpected, or behind the tip, does not block', async () => {
    const session = guidedSession();
    const root = await session.start();
    await session.advance(root, { ...blocked, gaps: [{ ...missing, severity: 'warning' }] });
    await session.advance(root, {
      ...blocked,
      gaps: [{ reason: { category: 'unexpected', detail: 'invariant_violation' }, summary: 'odd' }],
    });
    expect(statusOf(session, root)).toBe('in_progress');
    await session.advance(root, { gaps: [missing] });
    expect(statusOf(session, root)).toBe('in_progress');
  });

  it('[W84] is complete at its end, with gaps where critical ones are open anywhere in the run', async () => {
    const session = guidedSession();
    const root = await session.start();
    const next = await session.advance(root, { gaps: [missing] });
    await session.advance(next, complete);
    expect(statusOf(session, root)).toBe('complete_with_gaps');
    const other = await session.start({ attemptId: attempt('other') });
    await session.advance(other, complete);
    expect(statusOf(session, other)).toBe('complete');
  });
});

describe('outputs', () => {
  const output = (name: string, channel: 'recap' | 'artifact', supersedes?: string, at: NodeId = node): EventFacts => ({
    sessionId: SESSION,
    kind: 'node_output_appended',
    scope: { runId: run, nodeId: at },
    data: {
      outputId: guidedId<OutputId>('o', name),
      outputChannel: channel,
      payload: { payloadKind: 'notes', notesMarkdown: name },
      ...(supersedes && { supersedesOutputId: guidedId<OutputId>('o', supersedes) }),
    },
  });

  it('[W85] the current one of a channel is the last that no later one corrects', () => {
    const events = eventsOf(
      output('a', 'recap'),
      output('b', 'recap'),
      output('c', 'artifact'),
      output('d', 'recap', 'b'),
    );
    const outputs = projectNodeOutputs(events).get(node);
    expect(recapNotes(outputs)).toBe('d');
    expect(outputs?.current.artifact?.outputId).toBe(guidedId<OutputId>('o', 'c'));
    expect(outputs?.history.map(one => one.isSuperseded)).toEqual([false, true, false, false]);
    expect(recapNotes(projectNodeOutputs(eventsOf(output('a', 'recap'), output('b', 'recap', 'a'))).get(node))).toBe(
      'b',
    );
  });

  it('[W85] a correction reaches no other node, no other channel and nothing later', () => {
    const elsewhere = guidedId<NodeId>('p', 'elsewhere');
    const events = eventsOf(
      output('late', 'recap', 'x'),
      output('a', 'recap'),
      output('b', 'artifact', 'a'),
      output('c', 'recap', 'a', elsewhere),
      output('x', 'recap'),
    );
    const all = [...projectNodeOutputs(events).values()].flatMap(outputs => outputs.history);
    expect(all.map(one => one.isSuperseded)).toEqual(Array(5).fill(false));
  });
});

describe('gaps', () => {
  const gap = (name: string, resolves?: string): EventFacts => ({
    sessionId: SESSION,
    kind: 'gap_recorded',
    scope: { runId: run, nodeId: node },
    data: {
      gapId: guidedId('g', name) as never,
      severity: 'critical',
      reason: missing.reason,
      summary: name,
      resolution: resolves
        ? { kind: 'resolves', resolvesGapId: guidedId('g', resolves) as never }
        : { kind: 'unresolved' },
    },
  });

  it('[W86] are resolved by a later record that names them, and stay visible', () => {
    const gaps = projectGaps(eventsOf(gap('a'), gap('b'), gap('c', 'a'), gap('d', 'a')));
    expect(gaps.map(({ summary, resolvedBy }) => [summary, resolvedBy])).toEqual([
      ['a', guidedId('g', 'c')],
      ['b', undefined],
    ]);
  });

  it('[W86] an earlier record resolves nothing', () => {
    expect(projectGaps(eventsOf(gap('c', 'a'), gap('a')))[0]?.resolvedBy).toBeUndefined();
  });
});

describe('capabilities and preferences', () => {
  const seen = (status: 'available' | 'unavailable', strong: boolean) => {
    const used: CapabilityProvenance = {
      kind: 'attempted_use',
      enforcementGrade: 'strong',
      detail: { attemptContext: 'workflow_step', result: 'success' },
    };
    const said: CapabilityProvenance = {
      kind: 'manual_claim',
      enforcementGrade: 'weak',
      detail: { claimedBy: 'agent', claim: status },
    };
    return { capability: 'web_browsing', status, provenance: strong ? used : said } as const;
  };

  it('[W87] the last observation at a node counts, then the nearest before it; claims unlock nothing', async () => {
    const session = guidedSession();
    const root = await session.start();
    const second = await session.advance(root, { capabilities: [seen('available', false)] });
    const status = (place: Place) => {
      const history = projectCapabilities(session.events());
      const dag = dagOf(session, root);
      return [
        capabilityAt(history, dag, place.nodeId, 'web_browsing')?.status,
        enforceableStatus(history, dag, place.nodeId, 'web_browsing'),
      ];
    };
    expect(status(second)).toEqual(['available', 'unknown']);
    const third = await session.advance(second, {
      capabilities: [seen('unavailable', true), seen('available', false)],
    });
    expect(status(third)).toEqual(['available', 'unavailable']);
    expect(status(root)).toEqual(['available', 'unknown']);
    expect(
      capabilityAt(projectCapabilities(session.events()), dagOf(session, root), third.nodeId, 'delegation'),
    ).toBeUndefined();
  });

  it('[W88] what is said at a node or before it wins over the session, and that over everybody', async () => {
    const session = guidedSession();
    const root = await session.start();
    const next = await session.advance(root);
    const at = (baselines = {}) =>
      preferencesAt(projectPreferences(session.events()), dagOf(session, root), next.nodeId, baselines);
    const global = modePresets.full_auto_never_stop;
    const baseline = modePresets.full_auto_stop_on_user_deps;
    expect([at(), at({ global }), at({ global, session: baseline })]).toEqual([modePresets.guided, global, baseline]);
    const delta = [{ key: 'riskPolicy', value: 'aggressive' }] as const;
    const change = { attemptId: attempt(1), source: 'user', delta, baselines: { session: baseline } } as const;
    await session.append(value(planPreferences(session.events(), root, change)));
    expect(at({ global })).toEqual({ autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' });
  });

  it('[W88] there are three presets, and going further than recommended is told', () => {
    expect(modePresets).toEqual({
      guided: { autonomy: 'guided', riskPolicy: 'conservative' },
      full_auto_stop_on_user_deps: { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' },
      full_auto_never_stop: { autonomy: 'full_auto_never_stop', riskPolicy: 'conservative' },
    });
    const { guided, full_auto_never_stop: never } = modePresets;
    expect(exceedsRecommendation(never, guided)).toEqual(['autonomy']);
    expect(exceedsRecommendation({ ...guided, riskPolicy: 'balanced' }, guided)).toEqual(['riskPolicy']);
    expect(exceedsRecommendation(guided, never)).toEqual([]);
    expect(exceedsRecommendation(never, {})).toEqual([]);
  });

  it('[W82] the last observation of a key counts', () => {
    const branch = (name: string): EventFacts => ({
      sessionId: SESSION,
      kind: 'observation_recorded',
      data: { key: 'git_branch', value: { type: 'short_string', value: name }, confidence: 'low' },
    });
    expect(projectObservations(eventsOf(branch('a'), branch('b'))).get('git_branch')?.value).toBe('b');
  });
});

describe('a session for people', () => {
  it('[W89] is small whatever its length, and counts what it leaves out', async () => {
    const session = guidedSession();
    const root = await session.start();
    let at = root;
    for (let step = 0; step < 20; step++) at = await session.advance(at, { notesMarkdown: `step ${step}` });
    const real = session.events();
    const tip = real.findLast(event => event.kind === 'node_created');
    if (tip?.kind !== 'node_created') throw new Error('no tip');
    const facts: EventFacts[] = [];
    let parent = tip.scope.nodeId;
    for (let extra = 0; extra < 600; extra++) {
      const nodeId = guidedId<NodeId>('extra', extra);
      facts.push({
        sessionId: SESSION,
        kind: 'node_created',
        scope: { runId: root.runId, nodeId },
        data: { ...tip.data, parentNodeId: parent },
      });
      parent = nodeId;
    }
    const notes = { payloadKind: 'notes', notesMarkdown: 'x'.repeat(4096) } as const;
    facts.push({
      sessionId: SESSION,
      kind: 'node_output_appended',
      scope: { runId: root.runId, nodeId: parent },
      data: { outputId: guidedId<OutputId>('o', 'long'), outputChannel: 'recap', payload: notes },
    });
    const added = eventsOf(...facts).map((event, index) => ({ ...event, eventIndex: real.length + index }));
    const view = projectSession([...real, ...added], { health: 'corrupt_tail', engineStateOf: session.engineStateOf });
    const [only] = view.runs;
    expect([view.isSalvaged, view.runs.length, view.omittedRuns]).toEqual([true, 1, 0]);
    expect([only?.nodes.length, only?.omittedNodes]).toEqual([viewBudgets.nodes, 621 - viewBudgets.nodes]);
    expect(utf8Length(only?.recap ?? '')).toBeLessThanOrEqual(viewBudgets.recapBytes);
    expect(only?.recap?.endsWith(TRUNCATION_MARKER)).toBe(true);
  });

  it('[W89] shows runs, their status, their way and what was last said on it', async () => {
    const session = guidedSession();
    const root = await session.start();
    const dead = await session.advance(root, { attemptId: attempt('dead') });
    const live = await session.advance(root, { attemptId: attempt('live'), notesMarkdown: 'Here.' });
    const marked = value(planCheckpoint(session.node(live), { attemptId: attempt('mark') }));
    await session.append(marked);
    const view = projectSession(session.events(), { health: 'healthy', engineStateOf: session.engineStateOf });
    expect(view).toMatchObject({ health: 'healthy', isSalvaged: false, events: session.events().length });
    expect(view.runs[0]).toMatchObject({
      status: 'in_progress',
      preferredTip: marked.checkpointNodeId,
      recap: 'Here.',
      unresolvedGaps: [],
      preferences: defaultPreferences,
    });
    expect(
      view.runs[0]?.nodes.map(({ nodeId, isLeaf, isOnPreferredPath }) => [nodeId, isLeaf, isOnPreferredPath]),
    ).toEqual([
      [root.nodeId, false, true],
      [dead.nodeId, true, false],
      [live.nodeId, false, true],
      [marked.checkpointNodeId, true, true],
    ]);
    expect(pendingAt('second', 'first')).toEqual(session.engineStateOf(session.node(live).data.snapshotRef));
  });

  it('[W90] only a healthy session is gone on with; of a damaged one the valid prefix is shown', () => {
    const gates: Record<SessionHealth, readonly boolean[]> = {
      healthy: [true, true, false],
      corrupt_tail: [false, true, true],
      corrupt_head: [false, false, true],
      unknown_version: [false, false, true],
    };
    for (const [health, [mayExecute, mayInspect, isSalvaged]] of Object.entries(gates)) {
      expect(sessionGate(health as SessionHealth), health).toEqual({ mayExecute, mayInspect, isSalvaged });
    }
  });
});
