import { json, ok, text } from '@signalbox/model';
import * as z from 'zod';
import { executionSummarySchema, nodeInstanceSchema } from './answer-schemas.ts';
import { acceptEffects } from './execution-tools.ts';
import { nodeInstance } from './read-models.ts';
import { ofNode, seenIn, tasksOf } from './resource-reads.ts';
import {
  type Answer,
  adds,
  EXECUTION,
  fork,
  harms,
  NODE,
  nodeFields,
  type OperatorTool,
  type ToolDesk,
  tool,
} from './tool.ts';

export const nodeTools: readonly OperatorTool[] = [
  tool({
    name: 'node.cancel',
    title: 'Cancel a node',
    description: `Cancels running or waiting work of one node; the rest of the execution continues as its plan says.
A node without work is refused with run/no-effect.
Returns the node afterwards. Next: node.retry runs it again.`,
    annotations: harms,
    template: { execution_id: EXECUTION, node_id: NODE },
    input: z.strictObject(nodeFields),
    answer: nodeInstanceSchema,
    call: (desk, { execution_id, node_id }) => actOnNode(desk, 'cancel', execution_id, node_id),
  }),
  tool({
    name: 'node.retry',
    title: 'Retry a node',
    description: `Repeats the work of a node that failed or was canceled, with the same input. An execution that it held up continues.
Find out first why it failed: read signalbox://executions/{id}/nodes/{node_id}/runs. A node that has not ended, or succeeded, is refused with run/no-effect.
Returns the node afterwards.`,
    annotations: adds,
    template: { execution_id: EXECUTION, node_id: NODE },
    input: z.strictObject(nodeFields),
    answer: nodeInstanceSchema,
    call: (desk, { execution_id, node_id }) => actOnNode(desk, 'retry', execution_id, node_id),
  }),
  tool({
    name: 'node.rerun_from',
    title: 'Rerun from a node',
    description: `Creates a new execution that repeats a node and everything that depends on it. The old execution does not change.
mode "continue" (the default) keeps work done before the node; "restart" begins with the first frame and repeats everything.
With overrides it gets another input, with node_input the node does. That is dangerous, so the first call is refused with run/unconfirmed and both inputs: compare them, then send confirmed.
Returns the new execution.`,
    annotations: adds,
    template: { execution_id: EXECUTION, node_id: NODE, mode: 'continue' },
    input: z.strictObject({
      ...nodeFields,
      mode: z.enum(['continue', 'restart']).optional().describe('Defaults to "continue".'),
      overrides: json.optional().describe('A complete new input for the new execution.'),
      node_input: json
        .optional()
        .describe("A changed input of the node: fields replace those of its own, a text is an agent's prompt."),
      confirmed: z.boolean().optional().describe('You compared the two inputs and want the new one.'),
      new_name: text.min(1).max(256).optional(),
      accept_effects: acceptEffects,
    }),
    answer: executionSummarySchema,
    async call(desk, { execution_id, node_id, mode = 'continue', overrides, node_input, ...options }) {
      const { confirmed, new_name, accept_effects } = options;
      const request = {
        name: new_name,
        input: overrides,
        nodeInput: node_input,
        confirmed,
        acceptEffects: accept_effects,
      };
      if (mode === 'continue') return fork(desk, execution_id, { at: { kind: 'node', node: node_id }, ...request });
      const known = await readNode(desk, execution_id, node_id);
      return known.ok ? fork(desk, execution_id, { at: { kind: 'frame', frame: 0 }, ...request }) : known;
    },
  }),
];

async function actOnNode(desk: ToolDesk, kind: 'cancel' | 'retry', execution: string, node: string): Answer {
  const before = await readNode(desk, execution, node);
  if (!before.ok) return before;
  const acted = await desk.host.act(before.value.run, { kind, node }, desk.by);
  if (!acted.ok) return acted;
  // The change may have removed the node.
  const after = await readNode(desk, execution, node);
  return ok({ value: (after.ok ? after : before).value.shown });
}

function readNode({ host: { reader }, runs }: ToolDesk, execution: string, node: string) {
  return ofNode({ reader, runs }, { parts: [execution, node], query: new URLSearchParams() }, async (record, found) =>
    ok({
      run: record.id,
      shown: nodeInstance(
        found.node,
        await seenIn({ reader }, record, found.node.id),
        await tasksOf({ reader }, record, found.node.id),
      ),
    }),
  );
}
