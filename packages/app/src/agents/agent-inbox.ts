import {
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  timestampOf,
} from '@signalbox/model';
import type { AgentMessage, Commit, NodeKey, RunReader, TaskId } from '@signalbox/runs';
import { keyedMutex } from '../forks/keyed-mutex.ts';
import type { Machine } from '../machine.ts';

/**
 * What people write to agents (R20). A message is durable in the transcript of the node's open task before it is answered, and the agent
 * reads it before its next turn: at once if it works, else when its task continues.
 */
export interface AgentInbox {
  /** Opens a session that takes messages until it is closed. */
  open<Session extends OpenSession>(task: TaskId, open: () => Promise<Session>): Promise<Session>;
  close(task: TaskId, session: OpenSession): void;
  tell(run: RunId, node: string, text: string, by: string): Promise<Result<QueuedMessage, ErrorEnvelope>>;
}

interface OpenSession {
  /** Adds a message to the transcript. */
  told(message: AgentMessage): Promise<void>;
}

interface QueuedMessage {
  readonly message: string;
  readonly task: TaskId;
}

export interface InboxPorts {
  readonly commit: Commit;
  readonly reader: Pick<RunReader, 'tasks' | 'stream'>;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
  readonly secrets?: SecretFilter | undefined;
}

const PAGE = 500;

export function createAgentInbox({ commit, reader, machine, secrets }: InboxPorts): AgentInbox {
  const open = new Map<TaskId, OpenSession>();
  /** A session counts the messages of its task when it opens: nobody else may add one meanwhile. */
  const inTurn = keyedMutex<TaskId>();

  async function nextIndex(run: RunId, task: TaskId): Promise<number> {
    for (let from = 0; ; ) {
      const page = await reader.stream(run, task, from, PAGE);
      from = (page.at(-1)?.index ?? from - 1) + 1;
      if (page.length < PAGE) return from;
    }
  }

  return {
    open: (task, opens) =>
      inTurn(task, async () => {
        const session = await opens();
        open.set(task, session);
        return session;
      }),
    close(task, session) {
      if (open.get(task) === session) open.delete(task);
    },
    async tell(run, node, text, by) {
      const tasks = await reader.tasks(run, { node: node as NodeKey, status: ['pending', 'running'] });
      const task = tasks.at(-1)?.id;
      if (task === undefined) return err(nobody(run, node));
      const id = machine.ids.mint();
      const message: AgentMessage = { v: 1, kind: 'person', id, by, text: secrets?.text(text) ?? text };
      return inTurn(task, async () => {
        const session = open.get(task);
        if (session !== undefined) {
          await session.told(message);
          return ok({ message: id, task });
        }
        const at = timestampOf(machine.clock);
        const chunk = {
          task,
          index: await nextIndex(run, task),
          kind: 'message' as const,
          payload: { ...message },
          at,
        };
        const written = await commit.commit({ at, stream: [chunk] }, { run, version: 'any' });
        return written.ok ? ok({ message: id, task }) : err(written.error);
      });
    },
  };
}

function nobody(run: RunId, node: string): ErrorEnvelope {
  return failure('run/no-effect', {
    message: `Node ${node} of run ${run} has no open turn that a message could wait for.`,
    suggestion: 'Retry the node, then send the message; or send a signal that the plan reads.',
    details: { run, node },
  });
}
