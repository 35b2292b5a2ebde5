import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactId, edgeId, nodeId, runId } from '../ids.ts';
import { text } from '../json.ts';
import { artifact } from './artifact.ts';
import { edge } from './edge.ts';
import { node } from './node.ts';

export const CONTRACT_VERSION = '1';

export const contractRunStatus = z.enum(['queued', 'running', 'paused', 'completed', 'failed']);
export type ContractRunStatus = z.infer<typeof contractRunStatus>;

export const runPhase = z.enum(['BOOT', 'EXECUTE', 'VERIFY', 'DOCS_SYNC', 'DONE']);
export type RunPhase = z.infer<typeof runPhase>;

export const runMode = z.enum(['AUTO', 'INTERACTIVE']);
export const globalMode = z.enum(['PLANNING', 'IMPLEMENTATION']);
export type GlobalMode = z.infer<typeof globalMode>;

/** A run as every surface shows it. */
export const run = z.strictObject({
  id: runId,
  contractVersion: z.literal(CONTRACT_VERSION),
  status: contractRunStatus,
  /** Why a stopped run shows as failed. */
  stopReason: text.min(1).optional(),
  phase: runPhase,
  mode: runMode,
  globalMode,
  createdAt: timestamp,
  updatedAt: timestamp,
  nodes: z.record(nodeId, node),
  edges: z.record(edgeId, edge),
  artifacts: z.record(artifactId, artifact),
});
export type Run = z.infer<typeof run>;

/** What a `run.patch` may change. Nodes, edges and artifacts have their own events. */
export const runPatch = run
  .pick({ status: true, stopReason: true, phase: true, mode: true, globalMode: true, updatedAt: true })
  .partial();
export type RunPatch = z.infer<typeof runPatch>;
