import type { RunHost } from '@signalbox/app/runs';
import { approvalId, type ErrorEnvelope, err, failure, json, type Result, text, wireLimits } from '@signalbox/model';
import * as z from 'zod';
import { knownRun } from '../routes/known-run.ts';
import { resolutionOf } from '../views/decision-view.ts';
import { approvalRecord } from './read-models.ts';
import { summaryOf } from './resource-reads.ts';

/** What a program of an operator can do (PRD 10.4), with the names that the specification gives it. */
export interface OperatorTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: { readonly destructiveHint: boolean; readonly idempotentHint: boolean };
  readonly input: z.ZodType;
  /** `input` was checked. `by` is who asks, as the events will say it. */
  call(host: RunHost, input: unknown, by: string): Promise<Result<object, ErrorEnvelope>>;
}

const execution = { execution_id: text.min(1).describe('The whole id of the execution.') };
const node = { ...execution, node_id: text.min(1).describe('The id of the node in the tree of the plan.') };
const reason = text.min(1).max(1024).optional().describe('Why, for the log.');
const acceptEffects = z.boolean().optional().describe('It is known that the world keeps what happened since.');
const gentle = { destructiveHint: false, idempotentHint: true };
const harsh = { destructiveHint: true, idempotentHint: true };

export const operatorTools: readonly OperatorTool[] = [
  tool({
    name: 'execution.start',
    title: 'Start an execution',
    description:
      'Starts a plan and answers when its first commit is durable. The same idempotency_key answers the same execution.',
    annotations: gentle,
    input: z.strictObject({
      script: text.min(1).max(4096).describe("The path of the plan's file on the server's machine."),
      input: json.optional().describe('What the plan takes.'),
      name: text.min(1).max(256).optional(),
      tags: z.array(text.min(1).max(128)).max(64).optional(),
      config: wireLimits.optional().describe('What it and everything below it may spend.'),
      idempotency_key: text.min(1).max(256).optional(),
      correlation_id: text.min(1).max(256).optional(),
    }),
    async call(host, { script, input, name, tags, config, idempotency_key, correlation_id }) {
      const started = await host.start({
        file: script,
        input: input ?? {},
        name,
        tags,
        limits: config,
        idempotencyKey: idempotency_key,
        correlationId: correlation_id,
      });
      return started.ok ? summaryNow(host, started.value) : started;
    },
  }),
  tool({
    name: 'execution.pause',
    title: 'Pause an execution',
    description: 'Nothing new starts; what runs may finish.',
    annotations: gentle,
    input: z.strictObject(execution),
    call: (host, { execution_id }, by) => act(host, execution_id, { kind: 'pause' }, by),
  }),
  tool({
    name: 'execution.resume',
    title: 'Resume an execution',
    description: 'Goes on with an execution that was paused, stopped, failed or cut off.',
    annotations: gentle,
    input: z.strictObject(execution),
    async call(host, { execution_id }) {
      const run = await knownRun(host.reader, execution_id);
      if (!run.ok) return run;
      const resumed = await host.resume(run.value.id);
      return resumed.ok ? summaryNow(host, resumed.value) : resumed;
    },
  }),
  tool({
    name: 'execution.stop',
    title: 'Stop an execution',
    description: 'Cancels what runs, waits for it, and stops.',
    annotations: harsh,
    input: z.strictObject({ ...execution, reason }),
    call: (host, { execution_id, reason: why = ASKED }, by) =>
      act(host, execution_id, { kind: 'stop', reason: why }, by),
  }),
  tool({
    name: 'execution.terminate',
    title: 'Terminate an execution',
    description: 'Ends it at once, without waiting for anything.',
    annotations: harsh,
    input: z.strictObject({ ...execution, reason }),
    call: (host, { execution_id, reason: why = ASKED }, by) =>
      act(host, execution_id, { kind: 'terminate', reason: why }, by),
  }),
  tool({
    name: 'node.cancel',
    title: 'Cancel a node',
    description: 'Cancels the work of a node.',
    annotations: harsh,
    input: z.strictObject(node),
    call: (host, { execution_id, node_id }, by) => act(host, execution_id, { kind: 'cancel', node: node_id }, by),
  }),
  tool({
    name: 'node.retry',
    title: 'Retry a node',
    description: 'Runs a node anew that failed or was canceled.',
    annotations: gentle,
    input: z.strictObject(node),
    call: (host, { execution_id, node_id }, by) => act(host, execution_id, { kind: 'retry', node: node_id }, by),
  }),
  tool({
    name: 'node.rerun_from',
    title: 'Run again from a node',
    description:
      'A new execution that begins where the work of the node began last, and does it again; the old one stays as it was. With overrides as its input it must be confirmed.',
    annotations: gentle,
    input: z.strictObject({
      ...node,
      overrides: json.optional().describe('Another input for the new execution.'),
      confirmed: z.boolean().optional().describe('The two inputs were compared, and the new one is meant.'),
      accept_effects: acceptEffects,
    }),
    call: (host, { execution_id, node_id, overrides, confirmed, accept_effects }, by) =>
      fork(
        host,
        execution_id,
        { at: { kind: 'node', node: node_id }, input: overrides, confirmed, acceptEffects: accept_effects },
        by,
      ),
  }),
  tool({
    name: 'execution.fork_from_frame',
    title: 'Fork an execution',
    description: 'A new execution that goes on from a frame of another, with its state; the old one stays as it was.',
    annotations: gentle,
    input: z.strictObject({
      ...execution,
      frame_index: z.int().nonnegative(),
      new_name: text.min(1).max(256).optional(),
      paused: z.boolean().optional().describe('Do not go on with it at once.'),
      accept_effects: acceptEffects,
    }),
    call: (host, { execution_id, frame_index, new_name, paused, accept_effects }, by) =>
      fork(
        host,
        execution_id,
        { at: { kind: 'frame', frame: frame_index }, name: new_name, paused, acceptEffects: accept_effects },
        by,
      ),
  }),
  tool({
    name: 'state.set',
    title: 'Set a key of state',
    description:
      'Changes durable state of an execution from outside. It must fit the plan; who, what and why are kept.',
    annotations: harsh,
    input: z.strictObject({
      ...execution,
      key: text.min(1).max(1024),
      value: json.optional().describe('Left out, the key is taken away.'),
      trigger: text.min(1).max(1024).describe('Why.'),
    }),
    call: (host, { execution_id, key, value, trigger }, by) =>
      act(host, execution_id, { kind: 'edit', key, value, reason: trigger }, by),
  }),
  tool({
    name: 'approval.respond',
    title: 'Answer a decision',
    description: 'Answers what waits for a person. It is answered once; a second answer is told the first.',
    annotations: gentle,
    input: z.strictObject({
      ...execution,
      approval_id: approvalId,
      decision: z.enum(['approve', 'deny']),
      comment: text.max(4096).optional(),
    }),
    async call(host, { execution_id, approval_id, decision, comment }, by) {
      const found = await host.reader.decision(approval_id);
      if (found === undefined || found.run !== execution_id) return err(unknownApproval(approval_id));
      const status = decision === 'approve' ? 'approved' : 'denied';
      const body = { status, ...(comment !== undefined && { rationale: comment }) } as const;
      const answered = await host.answer(approval_id, { resolution: resolutionOf(body, found.decision.kind) }, by);
      return answered.ok ? { ok: true, value: approvalRecord(found.run, answered.value) } : answered;
    },
  }),
];

const ASKED = 'an operator asked for it';

function tool<Schema extends z.ZodType>(
  definition: Omit<OperatorTool, 'input' | 'call'> & {
    readonly input: Schema;
    call(host: RunHost, input: z.infer<Schema>, by: string): Promise<Result<object, ErrorEnvelope>>;
  },
): OperatorTool {
  return { ...definition, call: (host, input, by) => definition.call(host, input as z.infer<Schema>, by) };
}

async function act(
  host: RunHost,
  given: string,
  action: Parameters<RunHost['act']>[1],
  by: string,
): Promise<Result<object, ErrorEnvelope>> {
  const run = await knownRun(host.reader, given);
  if (!run.ok) return run;
  const acted = await host.act(run.value.id, action, by);
  return acted.ok ? summaryNow(host, run.value.id) : acted;
}

async function fork(
  host: RunHost,
  given: string,
  request: Parameters<RunHost['fork']>[1],
  by: string,
): Promise<Result<object, ErrorEnvelope>> {
  const run = await knownRun(host.reader, given);
  if (!run.ok) return run;
  const forked = await host.fork(run.value.id, request, by);
  return forked.ok ? summaryNow(host, forked.value) : forked;
}

async function summaryNow(host: RunHost, given: string): Promise<Result<object, ErrorEnvelope>> {
  const run = await knownRun(host.reader, given);
  return run.ok ? { ok: true, value: await summaryOf(host, run.value) } : run;
}

function unknownApproval(given: string): ErrorEnvelope {
  return failure('decision/unknown', {
    message: `The execution has no decision ${given}.`,
    suggestion: 'Read the approvals of the execution and answer one of them.',
    details: { decision: given },
  });
}
