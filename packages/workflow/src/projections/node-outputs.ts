import type { NodeId, RunId } from '@signalbox/model';
import type { OutputChannel, OutputPayload } from '../session/event-data.ts';
import type { OutputId } from '../session/ids.ts';
import { perHistory } from './per-history.ts';

export interface NodeOutput {
  readonly outputId: OutputId;
  readonly runId: RunId;
  readonly outputChannel: OutputChannel;
  readonly payload: OutputPayload;
  readonly appendedAt: number;
  /** The earlier output that this one corrects. */
  readonly supersedes?: OutputId;
  /** A later output of the same node and channel that corrects it. */
  readonly isSuperseded: boolean;
}

export interface NodeOutputs {
  /** All outputs, as appended. */
  readonly history: readonly NodeOutput[];
  /** Per channel, the last output that no later one corrects. */
  readonly current: Readonly<Partial<Record<OutputChannel, NodeOutput>>>;
}

export const projectNodeOutputs = perHistory<ReadonlyMap<NodeId, NodeOutputs>>((before = new Map(), events) => {
  const histories = new Map<NodeId, NodeOutput[]>();
  for (const event of events) {
    if (event.kind !== 'node_output_appended') continue;
    const { outputId, supersedesOutputId, outputChannel, payload } = event.data;
    const { nodeId, runId } = event.scope;
    const history = histories.get(nodeId) ?? [...(before.get(nodeId)?.history ?? [])];
    histories.set(nodeId, history);
    const corrected = history.findIndex(
      output => output.outputId === supersedesOutputId && output.outputChannel === outputChannel,
    );
    const output = history[corrected];
    if (output !== undefined) history[corrected] = { ...output, isSuperseded: true };
    history.push({
      outputId,
      runId,
      outputChannel,
      payload,
      appendedAt: event.eventIndex,
      ...(output && { supersedes: output.outputId }),
      isSuperseded: false,
    });
  }
  const outputs = new Map(before);
  for (const [nodeId, history] of histories) outputs.set(nodeId, { history, current: currentOf(history) });
  return outputs;
});

/** The current notes of a node. */
export function recapNotes(outputs: NodeOutputs | undefined): string | undefined {
  const payload = outputs?.current.recap?.payload;
  return payload?.payloadKind === 'notes' ? payload.notesMarkdown : undefined;
}

function currentOf(history: readonly NodeOutput[]): NodeOutputs['current'] {
  const standing = history.filter(output => !output.isSuperseded);
  const recap = standing.findLast(output => output.outputChannel === 'recap');
  const artifact = standing.findLast(output => output.outputChannel === 'artifact');
  return { ...(recap && { recap }), ...(artifact && { artifact }) };
}
