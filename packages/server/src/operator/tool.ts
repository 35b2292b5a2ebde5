import type { ContentBlock } from '@modelcontextprotocol/server';
import type { AllRuns } from '@signalbox/app/all-runs';
import type { RunHost } from '@signalbox/app/host';
import { type ErrorEnvelope, ok, type Result, text } from '@signalbox/model';
import type * as z from 'zod';
import type { OperatorToolName } from '../access/access-table.ts';
import type { DescribedTool } from '../mcp/tool-definitions.ts';
import { knownRun } from '../routes/known-run.ts';
import { summaryOf } from './resource-reads.ts';

/** What a tool works with. */
export interface ToolDesk {
  readonly host: RunHost;
  readonly runs: AllRuns;
  /** Who asks, as the events will say it. */
  readonly by: string;
  /** Where this server is reached over HTTP, if it is. */
  readonly url?: string | undefined;
}

interface Answered {
  readonly value: object;
  /** What comes beside the value: a file, or where it is. */
  readonly attached?: readonly ContentBlock[] | undefined;
}

export type Answer = Promise<Result<Answered, ErrorEnvelope>>;

/** What a program of an operator can do (PRD 10.4), with the names that the specification gives it. */
export interface OperatorTool extends DescribedTool {
  readonly name: OperatorToolName;
  /** `input` was checked. */
  call(desk: ToolDesk, input: unknown): Answer;
}

export function tool<Schema extends z.ZodType>(
  definition: Omit<OperatorTool, 'input' | 'call'> & {
    readonly input: Schema;
    call(desk: ToolDesk, input: z.infer<Schema>): Answer;
  },
): OperatorTool {
  return { ...definition, call: (desk, input) => definition.call(desk, input as z.infer<Schema>) };
}

export const executionFields = {
  execution_id: text.min(1).max(64).describe('The whole id of the execution, as signalbox://executions lists it.'),
};
export const nodeFields = {
  ...executionFields,
  node_id: text.min(1).max(1024).describe('The id of a node, as plan_tree of the newest frame has it.'),
};
export const EXECUTION = '<id of an execution>';
export const NODE = '<id of a node>';

const hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
export const looks = { ...hints, readOnlyHint: true };
/** Can be repeated without doing more. */
export const moves = hints;
/** Does something each time. */
export const adds = { ...hints, idempotentHint: false };
/** Takes something away that was under way or there. */
export const harms = { ...hints, destructiveHint: true };

/** Does something to an execution and answers how it stands then. */
export async function act(desk: ToolDesk, given: string, action: Parameters<RunHost['act']>[1]): Answer {
  const run = await knownRun(desk.host.reader, given);
  if (!run.ok) return run;
  const acted = await desk.host.act(run.value.id, action, desk.by);
  return acted.ok ? summaryNow(desk, run.value.id) : acted;
}

/** Makes another execution of one, and answers how that one stands. */
export async function fork(desk: ToolDesk, given: string, request: Parameters<RunHost['fork']>[1]): Answer {
  const run = await knownRun(desk.host.reader, given);
  if (!run.ok) return run;
  const forked = await desk.host.fork(run.value.id, request, desk.by);
  return forked.ok ? summaryNow(desk, forked.value) : forked;
}

export async function summaryNow({ host }: ToolDesk, given: string): Answer {
  const run = await knownRun(host.reader, given);
  return run.ok ? ok({ value: await summaryOf(host, run.value) }) : run;
}
