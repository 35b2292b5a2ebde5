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
    description: `Cancels the work that runs or waits for one node; the rest of the execution goes on as its plan says.
A node that does nothing is refused with run/no-effect.
Back comes the node as it is then. Next: node.retry runs it anew.`,
    annotations: harms,
    template: { execution_id: EXECUTION, node_id: NODE },
    input: z.strictObject(nodeFields),
    answer: nodeInstanceSchema,
    call: (desk, { execution_id, node_id }) => actOnNode(desk, 'cancel', execution_id, node_id),
  }),
  tool({
    name: 'node.retry',
    title: 'Retry a node',
    description: `Does the work of a node anew that failed or was canceled, with the same input. An execution that stands still because of it goes on.
Find out first why it failed: read signalbox://executions/{id}/nodes/{node_id}/runs. A node that is not over, or succeeded, is refused with run/no-effect.
Back comes the node as it is then.`,
    annotations: adds,
    template: { execution_id: EXECUTION, node_id: NODE },
    input: z.strictObject(nodeFields),
    answer: nodeInstanceSchema,
    call: (desk, { execution_id, node_id }) => actOnNode(desk, 'retry', execution_id, node_id),
  }),
  tool({
    name: 'node.rerun_from',
    title: 'Rerun from a node',
    description: `Makes a new execution that does a node, and what depends on it, anew. The old execution stays as it was.
mode "continue" (the default) keeps what was done before the node; "restart" begins with the first frame and does everything anew.
With overrides it gets another input. That is dangerous, so it is refused with run/unconfirmed and both inputs the first time: compare them, then send confirmed.
Back comes the new execution.`,
    annotations: adds,
    template: { execution_id: EXECUTION, node_id: NODE, mode: 'continue' },
    input: z.strictObject({
      ...nodeFields,
      mode: z.enum(['continue', 'restart']).optional().describe('"continue" where left out.'),
      overrides: json.optional().describe('Another input, whole, for the new execution.'),
      confirmed: z.boolean().optional().describe('The two inputs were compared, and the new one is meant.'),
      new_name: text.min(1).max(256).optional(),
      accept_effects: acceptEffects,
    }),
    answer: executionSummarySchema,
    async call(desk, { execution_id, node_id, mode = 'continue', overrides, confirmed, new_name, accept_effects }) {
      const request = { name: new_name, input: overrides, confirmed, acceptEffects: accept_effects };
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
  // What it led to may have taken the node away.
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
