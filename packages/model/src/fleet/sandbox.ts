import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactRef } from '../contract/artifact.ts';
import { digest } from '../digest.ts';
import { agentId, artifactId } from '../ids.ts';
import { text } from '../json.ts';
import { agentHandleStatus } from './handle-status.ts';
import { count, name } from './scales.ts';

const http = z.url({ protocol: /^https?$/ });
const socket = z.url({ protocol: /^wss?$/ });

/** How the adapter of an agent is reached, as it can be written down. */
export const transportAddress = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('in_process') }),
  z.strictObject({ type: z.literal('local_http'), rpcEndpoint: http, eventStreamEndpoint: socket }),
  z.strictObject({
    type: z.literal('container'),
    sandboxId: name,
    rpcEndpoint: http,
    eventStreamEndpoint: socket,
    healthEndpoint: http,
  }),
]);
export type TransportAddress = Readonly<z.infer<typeof transportAddress>>;

/** An adapter in this process. It calls the sink for every message, in any order and as often as it likes; the pipeline checks them all. */
export interface InProcessTransport {
  readonly type: 'in_process';
  readonly eventSink: (message: unknown) => void;
}

export type PluginTransport = InProcessTransport | Exclude<TransportAddress, { type: 'in_process' }>;

const sandboxResourceUsage = z.strictObject({
  cpuPercent: z.number().nonnegative(),
  memoryMb: z.number().nonnegative(),
  diskMb: z.number().nonnegative(),
  collectedAt: timestamp,
});
export type SandboxResourceUsage = Readonly<z.infer<typeof sandboxResourceUsage>>;

/** Where an agent lives. It is known to whoever starts and watches sandboxes, and to nobody else. */
export const sandboxInfo = z.strictObject({
  agentId,
  transport: transportAddress,
  providerType: z.enum(['docker', 'cloud_run', 'vm', 'local_process', 'in_process']),
  createdAt: timestamp,
  lastHeartbeatAt: timestamp.nullable(),
  resourceUsage: sandboxResourceUsage.optional(),
});
export type SandboxInfo = Readonly<z.infer<typeof sandboxInfo>>;

/** The answer of an adapter to `GET /health`. */
export const sandboxHealthResponse = z.strictObject({
  status: z.enum(['healthy', 'degraded', 'unhealthy']),
  agentStatus: agentHandleStatus,
  uptimeMs: count,
  resourceUsage: sandboxResourceUsage,
  pendingEventBufferSize: count,
});
export type SandboxHealthResponse = Readonly<z.infer<typeof sandboxHealthResponse>>;

/** What an adapter needs to reach the backend. The file that holds it is 0600 and deleted once it is read (R35). */
export const sandboxBootstrap = z.strictObject({
  backendUrl: http,
  /** Bound to this agent, short-lived. */
  backendToken: text.min(1),
  tokenExpiresAt: timestamp,
  agentId,
  artifactUploadEndpoint: http,
});
export type SandboxBootstrap = Readonly<z.infer<typeof sandboxBootstrap>>;

export const tokenRenewRequest = z.strictObject({ agentId, currentToken: text.min(1) });
export type TokenRenewRequest = Readonly<z.infer<typeof tokenRenewRequest>>;

export const tokenRenewResponse = z.strictObject({ backendToken: text.min(1), tokenExpiresAt: timestamp });
export type TokenRenewResponse = Readonly<z.infer<typeof tokenRenewResponse>>;

/** What an adapter says of a file that it uploads; the content is the body of the request. */
export const artifactUpload = z.strictObject({
  agentId,
  artifactId,
  sandboxUri: text.min(1),
  mimeType: name,
  contentHash: digest,
  sizeBytes: count,
});
export type ArtifactUpload = Readonly<z.infer<typeof artifactUpload>>;

export const artifactUploadResult = z.strictObject({
  backendUri: artifactRef,
  version: count,
  storedAt: timestamp,
  sizeBytes: count,
});
export type ArtifactUploadResult = Readonly<z.infer<typeof artifactUploadResult>>;
