export type {
  ApprovalId,
  ErrorEnvelope,
  FoundThing,
  ImportReport,
  Json,
  LimitsView,
  RecoveryNote,
  RedactionReport,
  Resolution,
  Result,
  RunComparison,
  RunId,
  StorageStanding,
  ThrownPlace,
} from '@signalbox/model';
export {
  codeFrame,
  defectWords,
  editorUrl,
  findQuery,
  nodeKindFacts,
  runId,
  runStatus,
  timerDue,
} from '@signalbox/model';
export type { KeepAttempt, Kept, PlanPreview, TraceEntry, TreeNode } from '@signalbox/plan';
export { treeToXml } from '@signalbox/plan';
export type {
  ArtifactRecord,
  CommitNotice,
  DecisionOfRun,
  Frame,
  FrameRange,
  RunReader,
  RunRecord,
  Spending,
  StopConditions,
  StoredEvent,
  StreamChunk,
  Task,
  TransitionView,
  TurnOffer,
  TurnSurface,
  TurnTools,
} from '@signalbox/runs';
export {
  decisionRequest,
  everyRun,
  isRepairable,
  isShownEvent,
  nodeKey,
  planVersionOf,
  retryPolicy,
  safeImageTypes,
  taskId,
  transitionsIn,
} from '@signalbox/runs';
export { isOwned, type Reader, readOwner, thrownDamage } from '@signalbox/store';
export { agentsOfRun } from '../agents/agents-of-run.ts';
export type { ActivityFact } from '../agents/host-activity.ts';

export { type BackupReport, backupHome, restoreHome } from '../backup/backup-home.ts';
export { isContainer } from '../bundles/bundle-container.ts';
export type { RunExport } from '../bundles/export-run.ts';
export { openBundle } from '../bundles/open-bundle.ts';
export { exportFrom, type ImportRequest } from '../bundles/run-bundles.ts';
export { type BundleReport, verifyBundle } from '../bundles/verify-bundle.ts';

export { compareRuns } from '../compare/compare-runs.ts';
export { heldDiff } from '../decisions/held-diff.ts';
export { effectsNotAccepted } from '../forks/effects-outside.ts';
export type { ForkMoment, ForkRequest } from '../forks/fork-request.ts';
export { unconfirmedState } from '../forks/fork-run.ts';
export { callsLeftOut } from '../forks/left-out.ts';
export { lineageOf } from '../forks/lineage.ts';
export { type Rollback, type RollbackRequest, unconfirmedRollback } from '../forks/rollback.ts';

export { createRunInspection } from '../inspection/run-inspection.ts';
export { type AttemptFacts, attemptFacts } from '../keep/attempt-facts.ts';
export { type AmountChange, type LimitScope, openLimitSettings } from '../limits/limit-settings.ts';
export { viewOfLimits } from '../limits/limits-view.ts';
export { openLimits } from '../limits/open-limits.ts';
export { correlationOf } from '../logs/correlation.ts';

export {
  isAtLeast,
  type LogLevel,
  type LogLine,
  lineOfChunk,
  lineOfEvent,
  logLevels,
} from '../logs/projections/log-line.ts';
export { type Machine, thisMachine } from '../machine.ts';
export type { AgentRequest, MeterDoor, MeterEdge, MeteredCall, MeterPlace, MeterVerdict } from '../meter/door.ts';
export { runCall } from '../meter/run-call.ts';
export { runSpend } from '../meter/run-spend.ts';
export { tellNotices } from '../notify/notices.ts';
export { readNotifyConfig } from '../notify/notify-config.ts';
export { sendNotice } from '../notify/send-notice.ts';
export { type ProjectReport, verifyProject } from '../projects/verify-project.ts';
export { openRecoveryBook } from '../recoveries/recovery-book.ts';
export { type RedactionRequest, unconfirmedRedaction } from '../redact/redact-desk.ts';
export { journalsAhead } from '../repair/journals-ahead.ts';
export { isLostDatabase, openReader } from '../repair/lost-database.ts';
export { type RepairReport, repairHome } from '../repair/repair-home.ts';
export type { RunReplay } from '../replay/replay-job.ts';
export { type ReplayVerdict, verifyBundleReplay, verifyRunReplay } from '../replay/verify-replay.ts';
export type { CollectReport, CollectRequest } from '../retention/retention-desk.ts';
export { drainUnowned } from '../run-journal/drain-unowned.ts';
export { type RunReport, verifyRun } from '../run-journal/verify-run.ts';
export { findBeside } from '../search/find-beside.ts';
export { openSecrets } from '../secrets/open-secrets.ts';
export { readEditorUrl } from '../settings/editor-config.ts';
export type { SettingsDesk } from '../settings/open-settings.ts';
export { withHeld } from '../storage/held-runs.ts';
export { openTurns } from '../turns/open-turns.ts';

export { checkpointFolder } from '../undo/checkpoint-files.ts';
export { type CallCheckpoint, type CallUndo, callCheckpoints, unconfirmedUndo } from '../undo/undo-desk.ts';
export type { WhyAnswer } from '../why/projections/why-facts.ts';
export { isPlanFault } from '../why/projections/why-run.ts';
export { why } from '../why/why.ts';
export { runDiff } from '../workspaces/run-diff.ts';
export type { SnapshotDiff } from '../workspaces/snapshot-diff.ts';
export { DO_FILE, DO_FOLDER, isDoRun } from './do-runs.ts';
export { findDecision } from './find-decision.ts';
export { findRun } from './find-run.ts';
export { giveBackWhenIdle } from './idle-memory.ts';
export { INTERRUPTED, isInterrupted, type LiveOwner, withInterrupted } from './interrupted-runs.ts';
export { type Home, type HomeOptions, openHome } from './open-home.ts';
export { openOwnedStore } from './owned-store.ts';
export { planPlaces, projectOf } from './plan-places.ts';
export { previewRun } from './preview-run.ts';
export { spendingByProject } from './project-directory.ts';
export type { Answer, ResumeRequest, RunAction, RunHost, StartRequest, UndoRequest } from './run-host.ts';
export { type ShownTree, treeAt } from './run-tree.ts';
export { takeUp } from './take-up.ts';
export { timerWait } from './timer-wait.ts';
