import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { nodeId, runId } from '../ids.ts';
import { text } from '../json.ts';

export const provider = z.enum(['codex', 'claude', 'gemini', 'custom']);
export type Provider = z.infer<typeof provider>;

export const contractNodeStatus = z.enum(['idle', 'running', 'blocked', 'failed']);
export type ContractNodeStatus = z.infer<typeof contractNodeStatus>;

export const capabilities = z.strictObject({
  spawnNodes: z.boolean(),
  writeCode: z.boolean(),
  writeDocs: z.boolean(),
  runCommands: z.boolean(),
  delegateOnly: z.boolean(),
});
export const permissions = z.strictObject({
  cliPermissionsMode: z.enum(['skip', 'gated']),
  spawnRequiresApproval: z.boolean(),
});
export const connection = z.strictObject({
  status: z.enum(['connected', 'idle', 'disconnected']),
  streaming: z.boolean(),
  lastHeartbeatAt: timestamp,
  lastOutputAt: timestamp,
});
/** A node as every surface shows it. */
export const node = z.strictObject({
  id: nodeId,
  runId,
  label: text,
  roleTemplate: text,
  provider,
  /** Our plugin, if `provider` can only say `custom`. */
  plugin: text.min(1).optional(),
  status: contractNodeStatus,
  summary: text,
  lastActivityAt: timestamp,
  capabilities,
  permissions,
  session: z.strictObject({
    /** The vendor's id, opaque to us; empty until the vendor assigns one. */
    sessionId: text,
    resetCommands: z.array(text),
  }),
  connection: connection.optional(),
  inboxCount: z.int().nonnegative().optional(),
});
export type Node = z.infer<typeof node>;

export const nodePatch = node.omit({ id: true, runId: true }).partial();
export type NodePatch = z.infer<typeof nodePatch>;
