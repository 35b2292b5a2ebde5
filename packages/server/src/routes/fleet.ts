import type { AllRuns } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import { ok, type QueuedDecision } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';

type FleetRoutes =
  | 'fleet'
  | 'fleetLog'
  | 'fleetAgents'
  | 'fleetAgent'
  | 'spawnAgent'
  | 'killAgent'
  | 'pauseAgent'
  | 'resumeAgent'
  | 'restartAgent'
  | 'changeBrief'
  | 'queue'
  | 'resolveDecision'
  | 'brakes'
  | 'brake'
  | 'releaseBrake'
  | 'controlMode'
  | 'setControlMode'
  | 'trust'
  | 'recomputeTrust'
  | 'simulateTrust'
  | 'ticks'
  | 'advanceTicks'
  | 'coherence'
  | 'settleIssue'
  | 'knownArtifacts'
  | 'reviewArtifact';

/** The agents of a project: what they are, what they ask, and how much they may do. */
export function fleetHandlers(
  fleet: FleetDesk,
  runs: Pick<AllRuns, 'decisions' | 'decision' | 'answer'>,
): Serving<FleetRoutes> {
  return {
    fleet: () => ok({ sync: fleet.sync(), plugins: fleet.plugins() }),
    fleetLog: (_, asked) => fleet.log(asked),
    fleetAgents: () => ok({ agents: fleet.agents() }),
    fleetAgent: ({ agent }) => fleet.agent(agent),
    spawnAgent: (_, body, { user }) => fleet.spawn(body, user),
    killAgent: ({ agent }, { reason }, { user }) => fleet.kill(agent, reason, user),
    pauseAgent: ({ agent }, { reason }, { user }) => fleet.pause(agent, reason, user),
    resumeAgent: ({ agent }, _, { user }) => fleet.resume(agent, user),
    restartAgent: ({ agent }, _, { user }) => fleet.restart(agent, user),
    changeBrief: ({ agent }, changes, { user }) => fleet.changeBrief(agent, changes, user),
    async queue() {
      const ofRuns = await runs.decisions({ status: 'open' });
      if (!ofRuns.ok) return ofRuns;
      const { items, next } = ofRuns.value;
      const approvals = items.map((approval): QueuedDecision => ({ from: 'run', approval }));
      return ok({ decisions: [...fleet.queue(), ...approvals], more: next !== undefined });
    },
    async resolveDecision({ id }, body, { user }) {
      if (fleet.decision(id) !== undefined) return fleet.resolve(id, body, user);
      const found = await runs.decision(id);
      const answered = found.ok ? await runs.answer(found.value, body, user) : found;
      return answered.ok ? ok({ from: 'run', approval: answered.value }) : answered;
    },
    brakes: () => ok(fleet.brakes()),
    brake: (_, action, { user }) => fleet.brake(action, user),
    releaseBrake: (_, { brakeId }, { user }) => fleet.releaseBrake(brakeId, user),
    controlMode: () => ok({ mode: fleet.mode() }),
    async setControlMode(_, { mode }, { user }) {
      const set = await fleet.setMode(mode, user);
      return set.ok ? ok({ mode: set.value }) : set;
    },
    trust: ({ agent }) => fleet.trust(agent),
    recomputeTrust: ({ agent }) => fleet.proveTrust(agent),
    simulateTrust: ({ agent }, { profile }) => fleet.simulateTrust(agent, profile),
    ticks: () => ok(fleet.ticks()),
    advanceTicks: (_, { by = 1 }) => fleet.advanceTicks(by),
    coherence: () => ok(fleet.coherence()),
    settleIssue: ({ issue }, { as }, { user }) => fleet.settleIssue(issue, as, user),
    knownArtifacts: (_, { workstream }) => ok({ artifacts: fleet.artifacts(workstream) }),
    reviewArtifact: ({ artifact }, review, { user }) => fleet.reviewArtifact(artifact, review, user),
  };
}
