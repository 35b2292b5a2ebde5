import type { ContentBlock } from '@modelcontextprotocol/server';
import type { AllRuns } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { RunHost } from '@signalbox/app/host';
import { type ErrorEnvelope, ok, type Result, text } from '@signalbox/model';
import type * as z from 'zod';
import type { OperatorToolName } from '../access/access-table.ts';
import type { DescribedTool } from '../mcp/tool-definitions.ts';
import { knownRun } from '../routes/known-run.ts';
import { summaryOf } from './resource-reads.ts';

/** The collaborators of a tool. */
export interface ToolDesk {
  readonly host: RunHost;
  readonly runs: AllRuns;
  /** The agents of the project; undefined if the server has no fleet. */
  readonly fleet?: FleetDesk | undefined;
  /** The caller's name, as used in events. */
  readonly by: string;
  /** The server's HTTP address, if it has one. */
  readonly url?: string | undefined;
}

interface Answered {
  readonly value: object;
  /** Content besides the value: a file, or a link to it. */
  readonly attached?: readonly ContentBlock[] | undefined;
}

export type Answer = Promise<Result<Answered, ErrorEnvelope>>;

/** A tool for operator clients (PRD 10.4), with the names of the specification. */
export interface OperatorTool extends DescribedTool {
  readonly name: OperatorToolName;
  /** `input` is already checked. */
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
  execution_id: text.min(1).max(64).describe('The full id of the execution, as listed in signalbox://executions.'),
};
export const nodeFields = {
  ...executionFields,
  node_id: text.min(1).max(1024).describe('The id of a node, as in plan_tree of the newest frame.'),
};
export const EXECUTION = '<id of an execution>';
export const NODE = '<id of a node>';

const hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
export const looks = { ...hints, readOnlyHint: true };
/** Repeating it has no further effect. */
export const moves = hints;
/** Has an effect each time. */
export const adds = { ...hints, idempotentHint: false };
/** Ends or removes something. */
export const harms = { ...hints, destructiveHint: true };

/** Acts on an execution and returns its state afterwards. */
export async function act(desk: ToolDesk, given: string, action: Parameters<RunHost['act']>[1]): Answer {
  const run = await knownRun(desk.host.reader, given);
  if (!run.ok) return run;
  const acted = await desk.host.act(run.value.id, action, desk.by);
  return acted.ok ? summaryNow(desk, run.value.id) : acted;
}

/** Forks an execution and returns the new one. */
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
