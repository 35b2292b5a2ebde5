import type { RunAction } from '@signalbox/app/host';
import { approvalId, defined, type ErrorEnvelope, editOp, err, failure, json, ok, text } from '@signalbox/model';
import * as z from 'zod';
import { knownRun } from '../routes/known-run.ts';
import { approvalSchema, stateChangeSchema } from './answer-schemas.ts';
import { approvalShown } from './read-models.ts';
import {
  type Answer,
  adds,
  EXECUTION,
  executionFields,
  harms,
  type OperatorTool,
  type ToolDesk,
  tool,
} from './tool.ts';

const stateKey = text.min(1).max(1024).describe('A key of the state that the plan declares.');
const trigger = text.min(1).max(1024).describe('The reason; logged with who asked and both values.');

export const stateTools: readonly OperatorTool[] = [
  tool({
    name: 'state.set',
    title: 'Set a key of state',
    description: `Replaces the value of a key of an execution's durable state; the execution is rendered again with it.
It must fit the plan's declaration, otherwise it is refused with plan/state-invalid and nothing changes. Read the newest frame first to know the current value.
To add to the current value, use state.update: it cannot overwrite changes made since you read.`,
    annotations: harms,
    template: { execution_id: EXECUTION, key: '<key>', value: '<value>', trigger: '<why>' },
    input: z.strictObject({
      ...executionFields,
      key: stateKey,
      value: json.optional().describe('Leave it out to delete the key.'),
      trigger,
    }),
    answer: stateChangeSchema,
    call: (desk, { execution_id, key, value, trigger: reason }) =>
      edit(desk, execution_id, { kind: 'edit', key, value, reason }),
  }),
  tool({
    name: 'state.update',
    title: 'Update a key of state',
    description: `Changes a key of an execution's durable state based on its value at the time of the change, not on the one you last read: two concurrent updates both count.
increment adds a number (a negative one subtracts), append adds one item at the end of a list, merge puts fields over those of an object (one level deep; null is a value). A key without a value counts as 0, an empty list, or an object without fields.
The result must fit the plan, otherwise it is refused with plan/state-invalid and nothing changes.
Calling it twice applies it twice.`,
    annotations: adds,
    template: { execution_id: EXECUTION, key: '<key>', op: 'increment', value: 1, trigger: '<why>' },
    input: z.strictObject({
      ...executionFields,
      key: stateKey,
      op: editOp,
      value: json.describe('A number for increment, any item for append, an object for merge.'),
      trigger,
    }),
    answer: stateChangeSchema,
    call: (desk, { execution_id, key, op, value, trigger: reason }) =>
      edit(desk, execution_id, { kind: 'edit', key, op, value, reason }),
  }),
  tool({
    name: 'approval.respond',
    title: 'Answer a decision',
    description: `Answers a question that waits for a person in an execution: a tool call that needs consent, a choice, a review.
Read signalbox://executions/{id}/approvals first and answer what is shown there; only a person decides, or you if a person told you to.
It is answered once: a second answer returns the first outcome. The execution continues on its own.`,
    annotations: harms,
    template: { execution_id: EXECUTION, approval_id: '<id of an approval>', decision: 'approve', comment: '<why>' },
    input: z.strictObject({
      ...executionFields,
      approval_id: approvalId.describe('As listed in the approvals of the execution.'),
      decision: z.enum(['approve', 'deny']),
      comment: text.max(4096).optional().describe('The reason, shown to the asker.'),
    }),
    answer: approvalSchema,
    async call({ runs, by }, { execution_id, approval_id, decision, comment }) {
      const status = decision === 'approve' ? 'approved' : 'denied';
      const body = { status, ...defined({ rationale: comment }) } as const;
      const found = await runs.decision(approval_id);
      if (!found.ok && found.error.code !== 'decision/unknown') return found;
      if (!found.ok || found.value.runId !== execution_id) return err(unknownApproval(approval_id));
      const answered = await runs.answer(found.value, body, by);
      return answered.ok ? ok({ value: approvalShown(answered.value) }) : answered;
    },
  }),
];

async function edit(
  { host, by }: ToolDesk,
  given: string,
  action: Extract<RunAction, { readonly kind: 'edit' }>,
): Answer {
  const run = await knownRun(host.reader, given);
  if (!run.ok) return run;
  const { id } = run.value;
  const edited = await host.act(id, action, by);
  if (!edited.ok) return edited;
  const { status, frames } = (await host.reader.run(id)) ?? run.value;
  const value = (await host.reader.valueAt(id, 'state', action.key, frames)) ?? null;
  return ok({ value: { execution_id: id, key: action.key, value, status, current_frame_index: frames - 1 } });
}

function unknownApproval(given: string): ErrorEnvelope {
  return failure('decision/unknown', {
    message: `The execution has no decision ${given}.`,
    suggestion: 'Read the approvals of the execution and answer one of them.',
    details: { decision: given },
  });
}
