import {
  type AgentId,
  defaultRiskWeights,
  defaultTrustCalibration,
  type TrustCalibrationProfile,
  type TrustOutcome,
  type TrustProfileName,
  trustBaseDeltas,
  trustCalibrationProfiles,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  approve,
  decisionNamed,
  only,
  reject,
  type Scene,
  scene,
  starts,
  timeAt,
  toolApproval,
} from '../../test/scene.ts';
import ledger from '../../test/trust-ledger.json' with { type: 'json' };
import { defaultFleetConfig } from '../config.ts';
import { foldFleet } from '../fleet.ts';
import { simulateTrust } from './simulate.ts';
import { stepTrust } from './trust.ts';
import { decayedScore, trustDelta } from './trust-delta.ts';
import { newTrust, type TrustState } from './trust-state.ts';
import { trustMargin } from './trust-threshold.ts';

const maya = agentNamed('maya');
const { balanced } = trustCalibrationProfiles;
const tuned = (config: Partial<TrustCalibrationProfile['config']>): TrustCalibrationProfile => ({
  ...balanced,
  config: { ...balanced.config, ...config },
});

/** The scores of an agent after each of these outcomes. */
function scoresAfter(
  outcomes: readonly TrustOutcome[],
  profile = balanced,
  from = profile.config.initialScore,
): readonly number[] {
  let state: TrustState = { [maya]: newTrust(maya, from, 0) };
  return outcomes.map(outcome => {
    const fact = { kind: 'trust_outcome', at: timeAt(0), agentId: maya, outcome, reason: '' } as const;
    ({ state } = stepTrust(state, fact, profile, 0));
    return state[maya]?.score ?? Number.NaN;
  });
}
const many = (count: number, ...outcomes: readonly TrustOutcome[]) =>
  Array.from({ length: count }, () => outcomes).flat();
const score = (current: Scene, agent: AgentId = maya) => current.state.trust[agent]?.score;
const decide = (current: Scene, name: string, resolution = approve) => {
  current.emits('maya', toolApproval(name));
  return current.happens('decision_answered', { decisionId: decisionNamed(name), resolution, by: 'ada' });
};

describe('deltas', () => {
  it('[F110] applies the table within its range', () => {
    for (const [outcome, delta] of Object.entries(trustBaseDeltas))
      expect(scoresAfter([outcome as TrustOutcome])).toEqual([50 + delta]);
    expect(scoresAfter(many(60, 'human_overrides_via_brake')).at(-1)).toBe(10);
    expect(scoresAfter(many(60, 'human_approves_always')).at(-1)).toBe(100);
  });

  it('[F111] halves deltas at the extremes, toward zero', () => {
    expect(scoresAfter(['human_approves_always', 'human_approves_tool_call'], balanced, 91)).toEqual([92, 92]);
    expect(scoresAfter(['human_overrides_via_brake', 'human_rejects_tool_call'], balanced, 19)).toEqual([18, 17]);
    expect([
      scoresAfter(['human_approves_always'], balanced, 90),
      scoresAfter(['human_rejects_tool_call'], balanced, 20),
    ]).toEqual([[93], [18]]);
  });

  it('[F112] decays toward the target, and upward to the ceiling only', () => {
    expect([
      decayedScore(80, 5, balanced),
      decayedScore(52, 5, balanced),
      decayedScore(40, 5, balanced),
      decayedScore(48, 5, balanced),
    ]).toEqual([75, 50, 45, 50]);
    const strict = tuned({ decayCeiling: 30 });
    expect([decayedScore(25, 9, strict), decayedScore(40, 9, strict), decayedScore(80, 9, strict)]).toEqual([
      30, 40, 71,
    ]);
    const current = scene();
    decide(current, 'one');
    expect(score(current)).toBe(51);
    current.ticks(99);
    expect(score(current)).toBe(51);
    current.ticks(1);
    expect(score(current)).toBe(50);
    const low = scene();
    for (const name of ['a', 'b', 'c']) decide(low, name, reject);
    low.ticks(250);
    expect(score(low)).toBe(46);
    low.emits('maya', { type: 'status', message: 'here' });
    low.ticks(99);
    expect(score(low)).toBe(46);
  });

  it('[F113] multiplies by the profile, but not what a project sets', () => {
    const { conservative, permissive } = trustCalibrationProfiles;
    expect([
      trustDelta('human_rejects_tool_call', 50, conservative).effective,
      trustDelta('human_approves_tool_call', 50, conservative).effective,
    ]).toEqual([-3, 0]);
    expect([
      trustDelta('human_rejects_tool_call', 50, permissive).effective,
      trustDelta('human_approves_always', 50, permissive).effective,
    ]).toEqual([-1, 3]);
    const own = { ...conservative, config: { ...conservative.config, deltaTable: { human_approves_tool_call: 5 } } };
    expect(trustDelta('human_approves_tool_call', 50, own)).toEqual({ base: 5, effective: 5 });
  });

  it('[F114] weighs by blast radius, if the project wants it', () => {
    const risky = tuned({ riskWeights: defaultRiskWeights });
    const of = (radius: 'trivial' | 'medium' | 'large' | 'unknown') =>
      trustDelta('human_approves_always', 50, risky, radius).effective;
    expect([of('trivial'), of('medium'), of('large'), of('unknown')]).toEqual([1, 3, 4, 6]);
    expect(trustDelta('human_approves_always', 50, balanced, 'trivial').effective).toBe(3);
    expect(Object.is(trustDelta('human_modifies_tool_args', 50, risky, 'trivial').effective, 0)).toBe(true);
  });

  it('[F115] widens thresholds for agents with few outcomes', () => {
    const config = { ...defaultTrustCalibration, fewSamples: { below: 10, widenBy: 20 } };
    expect([0, 5, 9, 10].map(samples => trustMargin(samples, config))).toEqual([20, 10, 2, 0]);
    const asked = (fewSamples: typeof config.fewSamples | null) => {
      const trust = tuned({ initialScore: 80, fewSamples });
      const current = scene(['maya'], { config: { trust } });
      current.emits('maya', toolApproval('one'));
      return current.state.decisions.items[decisionNamed('one')]?.status;
    };
    expect([asked(null), asked(config.fewSamples)]).toEqual(['answered', 'open']);
  });

  it('[F116] changes no score in calibration mode', () => {
    const current = scene(['maya'], { config: { trust: tuned({ calibrationMode: true }) } });
    const [saved] = only(decide(current, 'one'), 'save_trust');
    expect(saved?.change).toMatchObject({ effectiveDelta: 1, previousScore: 50, newScore: 50, hypotheticalScore: 51 });
    current.ticks(100);
    expect(current.state.trust[maya]).toMatchObject({ score: 50, hypotheticalScore: 50 });
  });
});

describe('behaviour over time', () => {
  const good = many(20, 'human_approves_tool_call', 'artifact_approved', 'task_completed_success');
  const bad = many(20, 'human_rejects_tool_call', 'human_approves_tool_call', 'artifact_rejected');

  it('[F117] converges, recovers, separates and responds', () => {
    expect(scoresAfter(good).findIndex(value => value > 80)).toBeLessThan(40);
    const struggling = scoresAfter([...many(8, 'human_rejects_tool_call', 'human_approves_tool_call'), ...good]);
    expect(Math.min(...struggling)).toBeGreaterThan(20);
    expect(struggling.at(-1)).toBeGreaterThan(80);
    expect((scoresAfter(good).at(-1) ?? 0) - (scoresAfter(bad).at(-1) ?? 0)).toBeGreaterThan(60);
    const turned = scoresAfter([...good, ...many(10, 'artifact_rejected')]);
    expect((turned[good.length - 1] ?? 0) - (turned.at(-1) ?? 0)).toBeGreaterThanOrEqual(10);
  });

  it.each(Object.keys(ledger) as TrustProfileName[])('[F121] the ledger of the %s profile is exact', profile => {
    const rows = ledger[profile] as [TrustOutcome, number, number][];
    expect(rows).toHaveLength(50);
    expect(
      scoresAfter(
        rows.map(([outcome]) => outcome),
        trustCalibrationProfiles[profile],
      ),
    ).toEqual(rows.map(([, , after]) => after));
  });

  it('[F118] computes every score again from the facts', () => {
    const current = scene(['maya', 'david']);
    for (const [n, resolution] of [approve, reject, approve, { ...approve, alwaysApprove: true }].entries())
      decide(current, String(n), resolution);
    current.ticks(300);
    expect(foldFleet(current.facts).trust).toEqual(current.state.trust);
    const changes = only(current.effects, 'save_trust')
      .map(({ change }) => change)
      .filter(({ agentId }) => agentId === maya);
    expect(changes).toEqual(current.state.trust[maya]?.history);
    expect(changes.at(-1)?.newScore).toBe(score(current));
  });

  it('[F119] lists what another profile would have asked or not', () => {
    const current = scene(['maya'], {
      config: { trust: { ...balanced, config: { ...balanced.config, initialScore: 69 } } },
    });
    decide(current, 'one');
    current.emits('maya', toolApproval('two'));
    expect(score(current)).toBe(70);
    const strict = simulateTrust(current.facts, trustCalibrationProfiles.conservative);
    expect(strict.differences).toMatchObject([
      { decisionId: decisionNamed('two'), wasAsked: false, wouldBeAsked: true, simulatedScore: 30 },
    ]);
    const loose = simulateTrust(current.facts, trustCalibrationProfiles.permissive);
    expect(loose.differences).toMatchObject([
      { decisionId: decisionNamed('one'), wasAsked: true, wouldBeAsked: false },
    ]);
    expect(loose.scores[maya]).toEqual({ actual: 70, simulated: 71 });
    expect(simulateTrust(current.facts, current.state.config.trust).differences).toEqual([]);
  });
});

it('[F120] sends nothing about trust to an agent', () => {
  const current = scene([], { config: { trust: { ...defaultFleetConfig.trust } } });
  starts(current, 'maya', {
    providerConfig: { trustScore: 12, nested: [{ trust_profile: 1, temperature: 1 }] },
    escalationProtocol: {
      alwaysEscalate: [],
      neverEscalate: [],
      escalateWhen: [{ predicate: { field: 'trustScore', op: 'lt', value: 99 }, description: 'trust below 99' }],
    },
  });
  decide(current, 'one');
  current.happens('mode_changed', { mode: 'ecosystem', by: 'ada' });
  current.happens('brief_changed', {
    agentId: maya,
    changes: {
      escalationProtocol: {
        alwaysEscalate: [],
        neverEscalate: [],
        escalateWhen: [
          { predicate: { type: 'or', rules: [{ field: 'trustScore', op: 'lt', value: 1 }] }, description: 'trust' },
        ],
      },
    },
    by: 'ada',
  });
  current.happens('restart_requested', { agentId: maya, by: 'ada' });
  current.happens('agent_stopped', { agentId: maya, how: 'killed', silentAt: timeAt(0) });
  const leaving = current.effects.filter(({ kind }) =>
    ['spawn_agent', 'resume_agent', 'update_brief', 'deliver_resolution', 'inject_decision'].includes(kind),
  );
  expect(new Set(leaving.map(({ kind }) => kind))).toEqual(
    new Set(['spawn_agent', 'update_brief', 'deliver_resolution']),
  );
  expect(JSON.stringify(leaving)).not.toMatch(/trust/i);
  expect(JSON.stringify(leaving)).toContain('temperature');
});
