export type { ApprovalId, ErrorEnvelope, Json, Result, RunId } from '@signalbox/model';
export { runStatus } from '@signalbox/model';
export type { PlanPreview, RunEnd, TraceEntry, TreeNode } from '@signalbox/plan';
export { treeToXml } from '@signalbox/plan';
export type {
  CommitNotice,
  Decision,
  DecisionOfRun,
  Frame,
  Resolution,
  RunFeed,
  RunReader,
  RunRecord,
  StopConditions,
  StoredEvent,
  StreamChunk,
  Task,
  TransitionView,
} from '@signalbox/runs';
export { contractNodeId, hasRunEnded, isTaskUnderWay, nodeKey, taskId } from '@signalbox/runs';
export { openReader, type Reader, readOwner } from '@signalbox/store';
export { type Machine, thisMachine } from '../machine.ts';
export { findDecision } from './find-decision.ts';
export { findRun } from './find-run.ts';
export { type Home, type HomeOptions, openHome } from './open-home.ts';
export { openRunHost, type RunHostOptions } from './open-run-host.ts';
export { type OwnedStore, openOwnedStore } from './owned-store.ts';
export { previewRun } from './preview-run.ts';
export type { Answer, ResumeRequest, RunAction, RunHost, StartRequest } from './run-host.ts';
export { treeAt } from './run-tree.ts';
