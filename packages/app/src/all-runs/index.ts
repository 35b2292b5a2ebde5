export { decisionView } from '../contract-view/decision-view.ts';

export { snapshotOf, summariesOf, summaryOf } from '../contract-view/run-view.ts';
export { taskView } from '../contract-view/task-view.ts';
export { type ReadNode, readTree, withAsking } from '../contract-view/tree-view.ts';
export { LAST, unknownRun } from '../host/find-run.ts';
export { type LiveRuns, liveRunsOf, type Outbox, type Subscription } from '../live/live-runs.ts';
export { type AllRuns, type AllRunsReads, allRunsOf } from './all-runs.ts';
export {
  everyListedRun,
  findListedRun,
  findPlanRun,
  guidedInstead,
  guidedRunsIn,
  type ListedRun,
  sessionIn,
} from './listed-runs.ts';
export { badCursor, cutPage, invalid, type ListPage, MANY, pageOf } from './paging.ts';
export { readHome } from './read-home.ts';
export type { FoundArtifact } from './run-driver.ts';
