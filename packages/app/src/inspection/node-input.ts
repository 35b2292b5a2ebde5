import {
  defined,
  type ErrorEnvelope,
  err,
  type Json,
  type JsonObject,
  type NodeInput,
  ok,
  type Result,
  TRUNCATION_MARKER,
  truncateUtf8,
  utf8Length,
  type WireToolPolicy,
} from '@signalbox/model';
import {
  editableInput,
  executionSignature,
  isAgentKind,
  isRunnableKind,
  type NodeKind,
  type RunnableNode,
} from '@signalbox/plan';
import type { RunReader, RunRecord } from '@signalbox/runs';
import { isAllowed, needsApproval } from '@signalbox/state';
import type { ToolFacts } from '../agents/offered-tools.ts';
import { unknownFrame, unknownNode } from '../host/run-failures.ts';

export interface NodeInputPorts {
  readonly reader: Pick<RunReader, 'frames' | 'valueAt'>;
  /** The tools that agents are offered here, if known. */
  readonly tools?: (() => Promise<readonly ToolFacts[]>) | undefined;
}

/** A node's row, validated when it was written. */
interface NodeRow {
  readonly kind: NodeKind;
  readonly source?: NodeInput['source'];
  readonly handlers?: readonly string[];
  readonly data: JsonObject;
}

/** Larger texts and values are truncated. */
const MAX_BYTES = 256 * 1024;
const PAGE = 500;

/** The complete input of a node, in one frame or in the last one that has it. */
export async function nodeInputOf(
  { reader, tools }: NodeInputPorts,
  record: RunRecord,
  node: string,
  asked?: number | undefined,
): Promise<Result<NodeInput, ErrorEnvelope>> {
  const { id: run, frames } = record;
  if (asked !== undefined && asked >= frames) return err(unknownFrame(record, asked));
  const frame = asked ?? (await lastFrameWith(reader, record, node));
  const row = frame === undefined ? undefined : await reader.valueAt(run, 'node', node, frame);
  if (frame === undefined || row === undefined) return err(unknownNode(run, node, asked));
  // A frame wrote the row, and its commit was checked.
  const { kind, source, handlers, data } = row as unknown as NodeRow;
  const status = (await reader.valueAt(run, 'status', node, frame)) as { readonly signature?: string } | undefined;
  const started = status?.signature;
  const { prompt, system, model, schema, tools: names, permissions, ...props } = data;
  const cut = createCutter();
  return ok({
    node,
    kind,
    frame,
    ...cut.fields({ prompt, system, model, schema }),
    ...(isAgentKind(kind) && { tools: await policyOf({ names, permissions } as AgentRules, tools) }),
    props: cut.fields(props, 'props.'),
    ...editableOf(kind, data),
    ...defined({ handlers }),
    ...(isRunnableKind(kind) && { signature: executionSignature({ kind, data } as unknown as RunnableNode) }),
    ...defined({ startedSignature: started, source }),
    leftOut: cut.leftOut,
  });
}

function editableOf(kind: string, data: JsonObject): { readonly editable?: Json } {
  const editable = editableInput(kind, data);
  return editable === undefined || utf8Length(JSON.stringify(editable)) > MAX_BYTES ? {} : { editable };
}

/** Searches backwards for the last frame with the node. */
async function lastFrameWith(
  reader: NodeInputPorts['reader'],
  { id, frames }: RunRecord,
  node: string,
): Promise<number | undefined> {
  if (frames === 0) return undefined;
  if ((await reader.valueAt(id, 'node', node, frames - 1)) !== undefined) return frames - 1;
  for (let end = frames; end > 0; end -= PAGE) {
    const from = Math.max(0, end - PAGE);
    const page = await reader.frames(id, from, end - from);
    const left = page.findLast(({ index, unmounted }) => index < end && unmounted.some(gone => gone === node));
    if (left !== undefined) return left.index - 1;
    // Yields, so that other requests are answered.
    await new Promise<void>(resolve => setImmediate(resolve));
  }
  return undefined;
}

interface AgentRules {
  readonly names?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly permissions: 'gated' | 'skip';
}

async function policyOf({ names, permissions }: AgentRules, tools: NodeInputPorts['tools']): Promise<WireToolPolicy> {
  const known = await tools?.();
  return {
    ...names,
    permissions,
    ...(known !== undefined && {
      tools: known.map(tool => ({
        name: tool.name,
        risk: tool.risk,
        effects: tool.effects.kind,
        offered: isAllowed(tool.name, names),
        needsApproval: needsApproval(tool, permissions),
      })),
    }),
  };
}

/** Keeps what fits, truncates texts that do not, and counts the rest. */
function createCutter() {
  const leftOut: Record<string, number> = {};
  const cut = (field: string, value: Json): Json | undefined => {
    if (typeof value !== 'string') {
      const bytes = utf8Length(JSON.stringify(value));
      if (bytes <= MAX_BYTES) return value;
      leftOut[field] = bytes;
      return undefined;
    }
    const shown = truncateUtf8(value, MAX_BYTES);
    if (shown !== value) leftOut[field] = utf8Length(value) - utf8Length(shown) + TRUNCATION_MARKER.length;
    return shown;
  };
  return {
    leftOut,
    fields(values: Readonly<Record<string, Json | undefined>>, prefix = ''): JsonObject {
      return Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => {
          const kept = value === undefined ? undefined : cut(`${prefix}${name}`, value);
          return kept === undefined ? [] : [[name, kept] as const];
        }),
      );
    },
  };
}
