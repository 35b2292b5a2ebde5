import { approvalId, digest, json, nodeStatus, runId, runStatus, timestamp } from '@signalbox/model';
import * as z from 'zod';

/** What tools answer, with the names of the specification (PRD 10.2). A run is an execution here, and a task of an agent a run. */
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
  status: runStatus.describe('"waiting": only a person can move it on; read its approvals.'),
  started_at: timestamp,
  updated_at: timestamp,
  duration_ms: count.nullable().describe('Null while it has not ended.'),
  model_usage: z.record(z.string(), tokenUsage).describe('By model.'),
  tags: z.array(z.string()),
});

export const nodeInstanceSchema = z.object({
  node_id: z.string(),
  node_type: z.string(),
  label: z.string(),
  status: nodeStatus,
  iteration: count.describe('Which turn of its loop, from 0.'),
  block_reason: z.string().nullable(),
  handlers: z.array(z.string()).describe('Such as "onFinished"; empty where they are not known.'),
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
  value: json.describe('What the key holds now that the change is committed; null where it holds nothing.'),
  status: runStatus,
  current_frame_index: z.int().describe('The newest frame; a frame that is rendered with the change follows.'),
});

export const approvalSchema = z.object({
  id: approvalId,
  execution_id: runId,
  node_id: z.string(),
  kind: z.string().describe('file_edit, command_exec, external_api, human_review, or another.'),
  payload: json.describe('What was proposed.'),
  status: z.enum(['pending', 'approved', 'denied', 'withdrawn']),
  requested_at: timestamp,
  responded_at: timestamp.nullable(),
  responder: z.string().nullable(),
  comment: z.string().nullable(),
});

export const exportSchema = z.object({
  execution_id: runId,
  executions: count.describe('How many are in it: the execution and those of its sub-plans.'),
  file_name: z.string(),
  mime_type: z.literal('application/gzip'),
  bytes: count.describe('A little more or less where the file is made anew when it is downloaded.'),
  digest: digest.nullable().describe('Of the file in this answer; null where it is made anew when it is downloaded.'),
  head: digest.describe('The hash of the last event: keep it elsewhere, and the bundle can be verified against it.'),
  is_embedded: z.boolean().describe('The file is in this answer; otherwise it is at the download address.'),
  download: z.string().nullable().describe('Where the file can be fetched over HTTP with the same token.'),
});
