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

const reason = text.min(1).max(1024).optional().describe('Why; it is kept in the log beside who asked.');
const ASKED = 'an operator asked for it';

export const acceptEffects = z
  .boolean()
  .optional()
  .describe('It is known that the world keeps what tools did outside since then. A refusal names what that was.');

export const executionTools: readonly OperatorTool[] = [
  tool({
    name: 'execution.start',
    title: 'Start an execution',
    description: `Starts a plan and answers when its first commit is durable; the work goes on without you.
Call it to run a plan. Read signalbox://scripts for plans that were run here before, and signalbox://scripts?file=PATH for the input that one takes.
Send script, and input where the plan takes one. An idempotency_key of your own makes a repeated call safe: it answers the execution of the first.
Back comes the execution with its id. Next: read signalbox://executions/{id}, or subscribe to it, to see how it goes.`,
    annotations: adds,
    template: { script: '<path of a plan>', input: {}, idempotency_key: '<a text of your own>' },
    input: z.strictObject({
      script: text.min(1).max(4096).describe("The path of the plan's file on the server's machine."),
      input: json
        .optional()
        .describe("What the plan takes, as its input's schema wants it. An empty object where left out."),
      name: text.min(1).max(256).optional().describe("Another name than the plan's."),
      tags: z.array(text.min(1).max(128)).max(64).optional().describe('Words to find it by.'),
      config: wireLimits
        .optional()
        .describe(
          'What it and everything below it may spend: time, tokens, tool calls and money, and how often a task is retried. When one is reached, a person is asked whether to raise it.',
        ),
      idempotency_key: text.min(1).max(256).optional().describe('The same key answers the same execution.'),
      correlation_id: text.min(1).max(256).optional().describe('Goes into every line of its log.'),
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
    description: `Halts an execution after what runs now: work under way may finish, nothing new starts.
Call it to look around or change something in peace. Nothing is lost. To end work that runs, use execution.stop instead.
Back comes the execution; it is "paused" when what ran has finished. Next: execution.resume.`,
    annotations: moves,
    template: { execution_id: EXECUTION },
    input: z.strictObject(executionFields),
    answer: executionSummarySchema,
    call: (desk, { execution_id }) => act(desk, execution_id, { kind: 'pause' }),
  }),
  tool({
    name: 'execution.resume',
    title: 'Resume an execution',
    description: `Goes on with an execution that is paused, stopped, failed, stalled or was cut off.
Work that succeeded is not done again. One that runs already is refused with run/driven, one that is completed with run/ended; both are no harm.
An execution that is "waiting" needs approval.respond rather than this; one that waits because it reached a limit also goes on when you send a higher one as config.`,
    annotations: moves,
    template: { execution_id: EXECUTION },
    input: z.strictObject({
      ...executionFields,
      config: wireLimits.optional().describe('Limits to go on with; those that are left out stay as they are.'),
    }),
    answer: executionSummarySchema,
    async call(desk, { execution_id, config }) {
      const run = await knownRun(desk.host.reader, execution_id);
      if (!run.ok) return run;
      const resumed = await desk.host.resume(run.value.id, { limits: config, by: desk.by });
      return resumed.ok ? summaryNow(desk, resumed.value) : resumed;
    },
  }),
  tool({
    name: 'execution.stop',
    title: 'Stop an execution',
    description: `Cancels what runs in an execution, waits until it has ended in order, and stops.
Call it to end work that is not wanted. It can be taken up again with execution.resume.`,
    annotations: harms,
    template: { execution_id: EXECUTION, reason: '<why>' },
    input: z.strictObject({ ...executionFields, reason }),
    answer: executionSummarySchema,
    call: (desk, { execution_id, reason: why = ASKED }) => act(desk, execution_id, { kind: 'stop', reason: why }),
  }),
  tool({
    name: 'execution.terminate',
    title: 'Terminate an execution',
    description: `Ends an execution at once, without waiting for anything that runs. For emergencies: what work did outside until then stays as it is.
Call execution.stop first; use this where that does not come to an end.`,
    annotations: harms,
    template: { execution_id: EXECUTION, reason: '<why>' },
    input: z.strictObject({ ...executionFields, reason }),
    answer: executionSummarySchema,
    call: (desk, { execution_id, reason: why = ASKED }) => act(desk, execution_id, { kind: 'terminate', reason: why }),
  }),
  tool({
    name: 'execution.export',
    title: 'Export an execution',
    description: `Makes one file of an execution and of everything that it is: events, frames, state, artifacts, sub-plans. It changes nothing.
Call it to hand an execution to somebody, to keep it elsewhere, or to look at it on another machine (signalbox import, verify, replay).
Back come the size, the digest and the head. A small file is in the answer as an embedded resource; of a larger one there is a link to download it from, with the same token.`,
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
    description: `Makes a new execution that goes on from a frame of another, with the state that it had then. The old one stays as it was.
Call it to try another way from a known moment. Read signalbox://executions/{id}/frames for the frames.
Where tools did something outside since that frame, it is refused with run/effects-outside and names them; send accept_effects if that is no harm.
Back comes the new execution.`,
    annotations: adds,
    template: { execution_id: EXECUTION, frame_index: 0 },
    input: z.strictObject({
      ...executionFields,
      frame_index: z.int().nonnegative().describe('From 0.'),
      new_name: text.min(1).max(256).optional(),
      paused: z.boolean().optional().describe('Do not go on with it at once: change its state first, then resume it.'),
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
