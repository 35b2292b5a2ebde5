import { emptyFleet, type Fact, simulateTrust, stepFleet } from '@signalbox/fleet';
import {
  type AgentId,
  type TrustChange,
  type TrustProfileName,
  type TrustProof,
  trustCalibrationProfiles,
  trustChange,
  type WireTrustSimulation,
} from '@signalbox/model';
import type { OpenProjectRecord } from '@signalbox/runs';

type Record = Pick<OpenProjectRecord, 'body'>;

/** Computes the trust of an agent again from the facts, and compares every change with the one that was recorded at the time. */
export function proveTrust(records: Iterable<Record>, agentId: AgentId, factOf: (record: Record) => Fact): TrustProof {
  let fleet = emptyFleet;
  let facts = 0;
  let changes = 0;
  let score = 0;
  let difference: TrustProof['difference'];
  for (const record of records) {
    const step = stepFleet(fleet, factOf(record));
    const computed = step.effects.flatMap(effect =>
      effect.kind === 'save_trust' && effect.change.agentId === agentId ? [effect.change] : [],
    );
    const recorded = record.body.things
      .filter(({ kind, agent }) => kind === 'trust' && agent === agentId)
      .map(({ value }) => trustChange.parse(value));
    for (let at = 0; at < Math.max(computed.length, recorded.length); at += 1) {
      difference ??= differenceOf(recorded[at], computed[at]);
    }
    changes += recorded.length;
    score = recorded.at(-1)?.newScore ?? (score === 0 ? (step.state.trust[agentId]?.score ?? 0) : score);
    fleet = step.state;
    facts += 1;
  }
  const computed = fleet.trust[agentId]?.score ?? 0;
  const ok = difference === undefined && score === computed;
  return { agentId, ok, score, computed, changes, facts, ...(difference === undefined ? {} : { difference }) };
}

function differenceOf(recorded: TrustChange | undefined, computed: TrustChange | undefined): TrustProof['difference'] {
  if (JSON.stringify(recorded) === JSON.stringify(computed)) return undefined;
  return { ...(recorded && { recorded }), ...(computed && { computed }) };
}

/** What another profile would have made of the history of an agent. */
export function trustSimulation(
  facts: Iterable<Fact>,
  agentId: AgentId,
  profile: TrustProfileName,
): WireTrustSimulation {
  const { scores, differences } = simulateTrust(facts, trustCalibrationProfiles[profile]);
  const { actual = 0, simulated = 0 } = scores[agentId] ?? {};
  return { profile, agentId, actual, simulated, differences: differences.filter(one => one.agentId === agentId) };
}
