import { type ErrorEnvelope, failure, type RunId } from '@signalbox/model';
import { type RunReader, type RunRecord, taskId } from '@signalbox/runs';
import * as z from 'zod';
import type { AgentTools } from '../agents/agent-tools.ts';
import { keptMessages } from '../forks/kept-messages.ts';
import { unknownCall } from '../host/run-failures.ts';
import { readCheckpoints } from './checkpoint-files.ts';

/** The parts of a transcript that tell about calls, and which of them cannot be undone alone. */
const callEntry = z.looseObject({
  kind: z.enum(['tool_begun', 'tool_ended']),
  call: z.string(),
  notAlone: z.string().optional(),
});

/** Why a call without a checkpoint cannot be undone: an agent made it, and it is part of the agent's turn. */
export async function noCheckpoint(
  { store, tools }: { readonly store: RunReader; readonly tools: AgentTools },
  run: Pick<RunRecord, 'id'>,
  call: string,
  held: ReadonlySet<string>,
): Promise<ErrorEnvelope> {
  const task = taskId.safeParse(call.split('/')[0]);
  const messages = task.success ? await keptMessages(store, run.id, task.data) : [];
  /** Calls that have begun and not ended, the outermost first. */
  const open: string[] = [];
  for (const { payload } of messages) {
    const entry = callEntry.safeParse(payload);
    if (!entry.success) continue;
    const { kind, call: id, notAlone } = entry.data;
    if (kind === 'tool_begun') {
      if (!open.includes(id)) open.push(id);
      continue;
    }
    if (open.includes(id)) open.splice(open.indexOf(id), 1);
    const [turn] = open;
    if (id === call && turn !== undefined) return ofTurn(turn, notAlone);
  }
  return unknownCall(run.id, call);

  function ofTurn(turn: string, notAlone: string | undefined): ErrorEnvelope {
    if (held.has(turn)) return stillHeld(call, run.id);
    const outcome = readCheckpoints(tools.checkpoints(run.id)).find(one => one.call === turn)?.outcome;
    if (outcome !== 'succeeded')
      return nothingAlone(call, 'nothing of its turn was applied', 'There is nothing to undo.');
    return nothingAlone(
      call,
      notAlone ?? 'it changed no files',
      `Undo its whole turn with: signalbox undo ${run.id} ${turn}`,
    );
  }
}

export function undoneWithAll(call: string, turn: string): ErrorEnvelope {
  return nothingAlone(call, `its turn ${turn} was undone as a whole`, 'There is nothing left of it.');
}

export function stillHeld(call: string, run: RunId): ErrorEnvelope {
  const why = 'its changes are held until a person decides, and none is applied';
  return nothingAlone(call, why, `Decide with: signalbox decisions --run ${run}`);
}

function nothingAlone(call: string, why: string, suggestion: string): ErrorEnvelope {
  return failure('state/nothing-to-undo', {
    message: `Call ${call} has nothing to undo: ${why}.`,
    suggestion,
    details: { call },
  });
}
