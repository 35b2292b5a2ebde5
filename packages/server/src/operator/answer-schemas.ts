import { approvalId, digest, json, nodeStatus, runId, runStatus, timestamp } from '@signalbox/model';
import * as z from 'zod';

/** The answers of tools, with the names of the specification (PRD 10.2). A run is called an execution here, and an agent's task a run. */
const count = z.int().nonnegative();

const tokenUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cached_tokens: count,
  cost_micro_usd: count.describe('In millionths of a dollar.'),
});

export const executionSummarySchema = z.object({
  id: runId.describe('The execution_id that every other tool takes.'),
  name: z.string(),
  status: runStatus.describe('"waiting": only a person can unblock it; read its approvals.'),
  started_at: timestamp,
  updated_at: timestamp,
  duration_ms: count.nullable().describe('Null until it ends.'),
  model_usage: z.record(z.string(), tokenUsage).describe('By model.'),
  tags: z.array(z.string()),
});

export const nodeInstanceSchema = z.object({
  node_id: z.string(),
  node_type: z.string(),
  label: z.string(),
  status: nodeStatus,
  iteration: count.describe('The iteration of its loop, from 0.'),
  block_reason: z.string().nullable(),
  handlers: z.array(z.string()).describe('Such as "onFinished"; empty if unknown.'),
  source: z.object({ file: z.string(), line: z.int(), column: z.int() }).nullable(),
  mounted_at_frame: count,
  last_seen_frame: count,
  runs: z.array(
    z.object({
      run_id: z.string(),
      status: z.string(),
      started_at: timestamp.nullable(),
      ended_at: timestamp.nullable(),
    }),
  ),
});

export const stateChangeSchema = z.object({
  execution_id: runId,
  key: z.string(),
  value: json.describe('The value of the key after the change; null if it has none.'),
  status: runStatus,
  current_frame_index: z.int().describe('The newest frame; one rendered with the change follows.'),
});

export const approvalSchema = z.object({
  id: approvalId,
  execution_id: runId,
  node_id: z.string(),
  kind: z.string().describe('file_edit, command_exec, external_api, human_review, or another.'),
  payload: json.describe('The proposal.'),
  status: z.enum(['pending', 'approved', 'denied', 'withdrawn']),
  requested_at: timestamp,
  responded_at: timestamp.nullable(),
  responder: z.string().nullable(),
  comment: z.string().nullable(),
});

export const exportSchema = z.object({
  execution_id: runId,
  executions: count.describe('How many it holds: the execution and those of its sub-plans.'),
  file_name: z.string(),
  mime_type: z.literal('application/gzip'),
  bytes: count.describe('Approximate if the file is created again for the download.'),
  digest: digest.nullable().describe('Of the file in this answer; null if it is created again for the download.'),
  head: digest.describe('The hash of the last event: store it elsewhere to verify the bundle against it.'),
  is_embedded: z.boolean().describe('The file is in this answer; otherwise it is at the download address.'),
  download: z.string().nullable().describe('Where to fetch the file over HTTP with the same token.'),
});
