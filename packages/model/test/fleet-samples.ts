import type {
  BrakeAction,
  BrakedAgent,
  BrakeRecord,
  BrakeReleaseCondition,
  BrakeScope,
  DecisionAction,
  DecisionBadge,
  DecisionItem,
  DecisionLogEntry,
  DecisionStatus,
  DecisionSubject,
  DecisionTimeoutPolicy,
  OrphanedDecisionAction,
  OrphanedDecisionPolicy,
  Resolution,
  TickConfig,
  TrustCalibrationConfig,
  TrustCalibrationProfile,
  TrustChange,
  TrustProfile,
} from '@signalbox/model';
import { at, fleetIds, optionSample } from './fleet-event-samples.ts';

/** One whole value of each kind, every optional field present. */

const agentId = fleetIds.agent;

export const resolutionSample: Resolution = {
  resolutionType: 'modify',
  chosenOptionId: 'websocket',
  modifiedArgs: { command: 'npm run deploy -- --dry-run' },
  alwaysApprove: false,
  rationale: 'Look at it first.',
  actionKind: 'deploy',
  value: { approved: true },
};

export const subjectSamples: readonly DecisionSubject[] = [
  {
    subtype: 'option',
    title: 'Transport of notifications',
    summary: 'Clients need updates within a second.',
    options: [optionSample],
    recommendedOptionId: 'websocket',
  },
  { subtype: 'tool_approval', toolName: 'Bash', toolArgs: { command: 'npm run deploy' } },
];
const status: DecisionStatus = 'answered';
const badge: DecisionBadge = 'reassigned';
export const decisionItemSample: DecisionItem = {
  id: fleetIds.decision,
  agentId,
  reassignedTo: fleetIds.peer,
  workstream: 'backend',
  subject: { subtype: 'tool_approval', toolName: 'Bash', toolArgs: {} },
  severity: 'high',
  confidence: 0.9,
  blastRadius: 'unknown',
  affectedArtifactIds: [fleetIds.artifact],
  requiresRationale: false,
  status,
  badges: [badge],
  raisedAtTick: 1,
  dueByTick: 51,
  extensions: 0,
  score: 12.5,
  resolution: resolutionSample,
  closedBy: 'anna',
  closedAtTick: 9,
};
const action: DecisionAction = 'reassigned';
export const decisionLogSample: DecisionLogEntry = {
  decisionId: fleetIds.decision,
  agentId,
  action,
  by: 'system',
  tick: 9,
  at,
  reason: 'Its agent was killed; another one has the same role and workstream.',
  resolution: resolutionSample,
  reassignedTo: fleetIds.peer,
};
export const timeoutPolicySample: DecisionTimeoutPolicy = { timeoutTicks: 50, onTimeout: 'extend', maxExtensions: 2 };
const orphans: OrphanedDecisionAction = 'triage';
export const orphanPolicySample: OrphanedDecisionPolicy = {
  default: orphans,
  gracePeriodMs: 30_000,
  perSubtype: { option: 'reassign', tool_approval: 'cancel' },
};

export const scopeSamples: readonly BrakeScope[] = [
  { type: 'all' },
  { type: 'agent', agentId },
  { type: 'workstream', workstream: 'backend' },
];
export const releaseSamples: readonly BrakeReleaseCondition[] = [
  { type: 'manual' },
  { type: 'timer', releaseAfterMs: 600_000 },
  { type: 'decision', decisionId: fleetIds.decision },
];
export const brakeActionSample: BrakeAction = {
  scope: { type: 'workstream', workstream: 'backend' },
  reason: 'Wrong branch',
  behavior: 'pause',
  initiatedBy: 'anna',
  timestamp: at,
  releaseCondition: { type: 'manual' },
};
const braked: BrakedAgent = { agentId, silentAfterMs: 12.5, outcome: 'paused', refusedEvents: 1 };
export const brakeRecordSample: BrakeRecord = {
  id: fleetIds.brake,
  action: brakeActionSample,
  engagedAtTick: 4,
  agents: [braked, { ...braked, silentAfterMs: null, outcome: 'pending' }],
  released: { by: 'anna', at, tick: 9, cause: 'manual' },
};

export const tickConfigSample: TickConfig = { intervalMs: 100, mode: 'manual' };

export const calibrationSample: TrustCalibrationConfig = {
  initialScore: 50,
  floorScore: 10,
  ceilingScore: 100,
  decayTargetScore: 50,
  decayRatePerTick: 0.01,
  decayCeiling: 50,
  diminishingReturnThresholdHigh: 90,
  diminishingReturnThresholdLow: 20,
  deltaTable: { human_approves_always: 1 },
  riskWeights: { trivial: 0.5, small: 0.75, medium: 1, large: 1.5, unknown: 2 },
  fewSamples: { below: 10, widenBy: 10 },
  calibrationMode: true,
};
export const calibrationProfileSample: TrustCalibrationProfile = {
  name: 'conservative',
  config: calibrationSample,
  negativeDeltaMultiplier: 1.5,
  positiveDeltaMultiplier: 0.75,
};
export const trustChangeSample: TrustChange = {
  agentId,
  cause: 'human_approves_tool_call',
  baseDelta: 1,
  effectiveDelta: 1,
  previousScore: 50,
  newScore: 51,
  hypotheticalScore: 51,
  tick: 7,
  at,
  reason: 'anna approved Bash',
  decisionId: fleetIds.decision,
  artifactId: fleetIds.artifact,
  blastRadius: 'small',
};
export const trustProfileSample: TrustProfile = {
  agentId,
  score: 51,
  hypotheticalScore: 51,
  samples: 1,
  lastActiveTick: 7,
  history: [trustChangeSample],
};
