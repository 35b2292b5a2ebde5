export type { ErrorEnvelope } from '@signalbox/model';
export type { RunEnd, TreeNode } from '@signalbox/plan';
export type { RunRecord, StoredEvent } from '@signalbox/runs';
export { type Machine, thisMachine } from '../machine.ts';
export { findRun } from './find-run.ts';
export { type LiveRun, resumeRun, type StartRunOptions, startRun } from './live-run.ts';
export { type OwnedStore, openOwnedStore } from './owned-store.ts';
export { treeAt } from './run-tree.ts';
