import { agentList, wireAgent } from './agents.ts';
import { artifactList, queuedMessage, runChanges, wireArtifact, workspaceDiff } from './artifacts.ts';
import { importReport } from './bundles.ts';
import { runComparison } from './compare.ts';
import { decisionList, wireDecision } from './decisions.ts';
import { foundList } from './find.ts';
import {
  brakeList,
  decisionQueueList,
  fleetAgentDetail,
  fleetAgentList,
  fleetLog,
  fleetOverview,
  knownArtifactList,
  queuedDecision,
  reviewedArtifact,
  trustProof,
  trustSimulation,
  wireCoherence,
  wireMode,
  wireTicks,
  wireTrust,
} from './fleet.ts';
import { checkpointList, forkedRun, lineage, rollbackReport, undoReport } from './forks.ts';
import { health } from './health.ts';
import { chunkList, eventList, frameList, frameState, taskList, transitionList } from './history.ts';
import { limitsView } from './limits.ts';
import { nodeInput } from './node-input.ts';
import { planDescription, planFiles, planList } from './plans.ts';
import { providerList } from './providers.ts';
import { recoveryList, recoveryNote } from './recoveries.ts';
import { redactionReport } from './redaction.ts';
import { collectReport } from './retention.ts';
import { replayReport, runCheck } from './run-checks.ts';
import { frameTree, runSnapshot } from './run-snapshot.ts';
import { runList, runSummary } from './run-summary.ts';
import { answeredGap, sessionDetail, sessionList, startedSession, workflowDetail, workflowList } from './sessions.ts';
import { settings } from './settings.ts';
import { modelCall, runSpend, spendingList } from './usage.ts';
import { addedUser, login, oneTimeLink, userList, wireUser } from './users.ts';
import { savedWorkflow, workflowCheck } from './workflow-editing.ts';
import { workflowForms } from './workflow-forms.ts';

/** Answer schemas of operations, by their names in the API description. */
export const answers = {
  AddedUser: addedUser,
  Agent: wireAgent,
  AgentList: agentList,
  Artifact: wireArtifact,
  ArtifactList: artifactList,
  BrakeList: brakeList,
  CheckpointList: checkpointList,
  ChunkList: chunkList,
  Coherence: wireCoherence,
  CollectReport: collectReport,
  Decision: wireDecision,
  DecisionList: decisionList,
  DecisionQueue: decisionQueueList,
  EventList: eventList,
  FoundList: foundList,
  Comparison: runComparison,
  Fleet: fleetOverview,
  FleetAgent: fleetAgentDetail,
  FleetAgentList: fleetAgentList,
  FleetLog: fleetLog,
  FrameList: frameList,
  FrameState: frameState,
  FrameTree: frameTree,
  Gap: answeredGap,
  Health: health,
  ImportReport: importReport,
  KnownArtifact: reviewedArtifact,
  KnownArtifactList: knownArtifactList,
  Lineage: lineage,
  Login: login,
  Mode: wireMode,
  NodeInput: nodeInput,
  OneTimeLink: oneTimeLink,
  Plan: planDescription,
  PlanFiles: planFiles,
  PlanList: planList,
  ProviderList: providerList,
  QueuedDecision: queuedDecision,
  Recovery: recoveryNote,
  RecoveryList: recoveryList,
  RedactionReport: redactionReport,
  ReplayReport: replayReport,
  RollbackReport: rollbackReport,
  Run: runSnapshot,
  RunCheck: runCheck,
  RunList: runList,
  RunSummary: runSummary,
  ForkedRun: forkedRun,
  Session: sessionDetail,
  SessionList: sessionList,
  SavedWorkflow: savedWorkflow,
  Settings: settings,
  Limits: limitsView,
  ModelCall: modelCall,
  RunSpend: runSpend,
  SpendingList: spendingList,
  StartedSession: startedSession,
  TaskList: taskList,
  Ticks: wireTicks,
  TransitionList: transitionList,
  Trust: wireTrust,
  TrustProof: trustProof,
  TrustSimulation: trustSimulation,
  UndoReport: undoReport,
  User: wireUser,
  UserList: userList,
  Workflow: workflowDetail,
  WorkflowCheck: workflowCheck,
  WorkflowForms: workflowForms,
  WorkflowList: workflowList,
  QueuedMessage: queuedMessage,
  RunChanges: runChanges,
  WorkspaceDiff: workspaceDiff,
};
