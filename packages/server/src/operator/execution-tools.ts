import { json, text, wireLimits } from '@signalbox/model';
import * as z from 'zod';
import { knownRun } from '../routes/known-run.ts';
import { executionSummarySchema, exportSchema } from './answer-schemas.ts';
import { exportExecution } from './export-execution.ts';
import {
  act,
  adds,
  EXECUTION,
  executionFields,
  fork,
  harms,
  looks,
  moves,
  type OperatorTool,
  summaryNow,
  tool,
} from './tool.ts';

const reason = text.min(1).max(1024).optional().describe('The reason; logged with who asked.');
const ASKED = 'an operator asked for it';

export const acceptEffects = z
  .boolean()
  .optional()
  .describe('You know that effects outside made by tools since then remain. A refusal lists them.');

export const executionTools: readonly OperatorTool[] = [
  tool({
    name: 'execution.start',
    title: 'Start an execution',
    description: `Starts a plan and returns when its first commit is durable; the work continues without you.
Call it to run a plan. Read signalbox://scripts for plans that were run here before, and signalbox://scripts?file=PATH for the input of one.
Send script, and input if the plan takes one. Your own idempotency_key makes a repeated call safe: it returns the execution of the first.
Returns the execution with its id. Next: read signalbox://executions/{id}, or subscribe to it, to follow it.`,
    annotations: adds,
    template: { script: '<path of a plan>', input: {}, idempotency_key: '<a text of your own>' },
    input: z.strictObject({
      script: text.min(1).max(4096).describe("The path of the plan's file on the server's machine."),
      input: json.optional().describe("The plan's input, matching its schema. Defaults to an empty object."),
      name: text.min(1).max(256).optional().describe("A name other than the plan's."),
      tags: z.array(text.min(1).max(128)).max(64).optional().describe('Words to find it by.'),
      config: wireLimits
        .optional()
        .describe(
          'What it and its sub-plans may spend: time, tokens, tool calls and money, and how often a task is retried. When a limit is reached, a person is asked whether to raise it.',
        ),
      idempotency_key: text.min(1).max(256).optional().describe('The same key returns the same execution.'),
      correlation_id: text.min(1).max(256).optional().describe('Included in every line of its log.'),
    }),
    answer: executionSummarySchema,
    async call(desk, { script, input, name, tags, config, idempotency_key, correlation_id }) {
      const started = await desk.host.start({
        file: script,
        input: input ?? {},
        name,
        tags,
        limits: config,
        idempotencyKey: idempotency_key,
        correlationId: correlation_id,
        by: desk.by,
      });
      return started.ok ? summaryNow(desk, started.value) : started;
    },
  }),
  tool({
    name: 'execution.pause',
    title: 'Pause an execution',
    description: `Pauses an execution after the current work: running work may finish, nothing new starts.
Call it to inspect or change something safely. Nothing is lost. To end running work, use execution.stop instead.
Returns the execution; it is "paused" when running work has finished. Next: execution.resume.`,
    annotations: moves,
    template: { execution_id: EXECUTION },
    input: z.strictObject(executionFields),
    answer: executionSummarySchema,
    call: (desk, { execution_id }) => act(desk, execution_id, { kind: 'pause' }),
  }),
  tool({
    name: 'execution.resume',
    title: 'Resume an execution',
    description: `Resumes an execution that is paused, stopped, failed, stalled or was cut off.
Work that succeeded is not repeated. After you corrected the files of its plan, send use_current: failed tasks start again, unless they have effects outside; those need node.retry. One that is already running is refused with run/driven, one that is completed with run/ended; both are harmless.
An execution that is "waiting" needs approval.respond instead; one that waits because it reached a limit also resumes if you send a higher one as config.`,
    annotations: moves,
    template: { execution_id: EXECUTION },
    input: z.strictObject({
      ...executionFields,
      config: wireLimits.optional().describe('New limits; those left out stay unchanged.'),
      use_current: z
        .boolean()
        .optional()
        .describe('Continue with the current files of its plan, stored as a new version.'),
    }),
    answer: executionSummarySchema,
    async call(desk, { execution_id, config, use_current }) {
      const run = await knownRun(desk.host.reader, execution_id);
      if (!run.ok) return run;
      const resumed = await desk.host.resume(run.value.id, { limits: config, useCurrent: use_current, by: desk.by });
      return resumed.ok ? summaryNow(desk, resumed.value) : resumed;
    },
  }),
  tool({
    name: 'execution.stop',
    title: 'Stop an execution',
    description: `Cancels running work of an execution, waits until it has ended cleanly, and stops.
Call it to end unwanted work. Work that has finished is kept, and execution.resume can resume the execution later.`,
    annotations: harms,
    template: { execution_id: EXECUTION, reason: '<why>' },
    input: z.strictObject({ ...executionFields, reason }),
    answer: executionSummarySchema,
    call: (desk, { execution_id, reason: why = ASKED }) => act(desk, execution_id, { kind: 'stop', reason: why }),
  }),
  tool({
    name: 'execution.terminate',
    title: 'Terminate an execution',
    description: `Ends an execution at once, without waiting for running work. For emergencies: effects outside that already happened remain.
Call execution.stop first; use this if that does not finish.`,
    annotations: harms,
    template: { execution_id: EXECUTION, reason: '<why>' },
    input: z.strictObject({ ...executionFields, reason }),
    answer: executionSummarySchema,
    call: (desk, { execution_id, reason: why = ASKED }) => act(desk, execution_id, { kind: 'terminate', reason: why }),
  }),
  tool({
    name: 'execution.export',
    title: 'Export an execution',
    description: `Creates one file with an execution and everything in it: events, frames, state, artifacts, sub-plans. It changes nothing.
Call it to give an execution to someone, to store it elsewhere, or to look at it on another machine (signalbox import, verify, replay).
Returns the size, the digest and the head. A small file is in the answer as an embedded resource; a larger one has a download link that takes the same token.`,
    annotations: looks,
    template: { execution_id: EXECUTION },
    input: z.strictObject(executionFields),
    answer: exportSchema,
    async call(desk, { execution_id }) {
      const run = await knownRun(desk.host.reader, execution_id);
      return run.ok ? exportExecution(desk, run.value.id) : run;
    },
  }),
  tool({
    name: 'execution.fork_from_frame',
    title: 'Fork an execution',
    description: `Creates a new execution that continues from a frame of another, with the state of that frame. The old one does not change.
Call it to try another way from a known moment. Read signalbox://executions/{id}/frames for the frames.
If tools had effects outside since that frame, it is refused with run/effects-outside, which lists them; send accept_effects if that is harmless.
Returns the new execution.`,
    annotations: adds,
    template: { execution_id: EXECUTION, frame_index: 0 },
    input: z.strictObject({
      ...executionFields,
      frame_index: z.int().nonnegative().describe('From 0.'),
      new_name: text.min(1).max(256).optional(),
      paused: z.boolean().optional().describe('Do not run it at once: change its state first, then resume it.'),
      accept_effects: acceptEffects,
    }),
    answer: executionSummarySchema,
    call: (desk, { execution_id, frame_index, new_name, paused, accept_effects }) =>
      fork(desk, execution_id, {
        at: { kind: 'frame', frame: frame_index },
        name: new_name,
        paused,
        acceptEffects: accept_effects,
      }),
  }),
];
