import * as z from 'zod';
import { agentId } from '../ids.ts';
import { text } from '../json.ts';
import { briefChanges } from './brief.ts';
import { agentHandleStatus } from './handle-status.ts';
import { name } from './scales.ts';

/** What a plugin can do by itself. Without it, the backend does something weaker and says so. */
export const pluginCapabilities = z.strictObject({
  /** A pause keeps the point of execution. Otherwise it is a kill that saves the session. */
  supportsPause: z.boolean(),
  /** A resume goes on at that point. Otherwise it is a new turn with the conversation so far. */
  supportsResume: z.boolean(),
  /** A kill lets the agent finish. Otherwise its work is cut off. */
  supportsKill: z.boolean(),
  /** A changed brief applies at once. Otherwise at the next start or resume. */
  supportsHotBriefUpdate: z.boolean(),
});
export type PluginCapabilities = Readonly<z.infer<typeof pluginCapabilities>>;

export const pluginCapability = pluginCapabilities.keyof();
export type PluginCapability = z.infer<typeof pluginCapability>;

/** A running agent, as the backend passes it around. How to reach it is a matter of its `SandboxInfo`. */
export const agentHandle = z.strictObject({
  id: agentId,
  pluginName: name,
  status: agentHandleStatus,
  /** The vendor's, opaque to us; empty until the vendor assigns one. */
  sessionId: text,
  /** What the agent does not know yet. */
  pendingBriefChanges: briefChanges.optional(),
});
export type AgentHandle = Readonly<z.infer<typeof agentHandle>>;
