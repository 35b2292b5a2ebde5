import type { Json } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import { plainData } from '../attempt/plain-data.ts';
import type { WireListener } from './agent-wire.ts';
import { leftAsking } from './asking-mode.ts';
import type { AgentRow } from './register.ts';
import { IDLE_UPDATES, type SessionUpdate, sessionUpdate } from './session-update.ts';
import type { TurnBook } from './turn-book.ts';

export interface WatchContext {
  readonly row: AgentRow;
  readonly book: TurnBook;
  /** The agent sent something. */
  heard(): void;
  /** An update that has no form here. */
  vendor(what: string, update: Json): void;
  /** The agent reported the cost of its session. The next message is read when it settles. */
  costs(cost: { readonly amount: number; readonly currency: string }): Promise<void> | undefined;
  failed(error: TaskError): void;
  /** The turn ended: nothing more is kept. */
  isOver(): boolean;
}

/**
 * Watches the agent's session: sees every update in order, and tells the book about those that are news.
 *
 * 1. Only one session is the agent's own.
 * 2. What an agent repeats while a session is opened again was told before, and is not told again. The mode that it reports counts.
 * 3. Once the asking mode holds, an agent that leaves it is ended.
 */
export function createSessionWatch({ row, book, heard, vendor, costs, failed, isOver }: WatchContext) {
  let id: string | undefined;
  let mode: string | undefined;
  let isAsking = false;
  let isRepeating = false;

  function updated(update: SessionUpdate): Promise<void> | undefined {
    if (update.sessionUpdate === 'current_mode_update') mode = update.currentModeId;
    const left = isAsking ? leftAsking(row, update) : undefined;
    if (left !== undefined) {
      failed(left);
      return undefined;
    }
    if (isRepeating) return undefined;
    book.updated(update);
    const cost = update.sessionUpdate === 'usage_update' ? update.cost : undefined;
    return (cost == null ? undefined : costs(cost)) ?? book.room();
  }

  const listener: WireListener = {
    updated(params) {
      heard();
      const { sessionId, update } = (params ?? {}) as { readonly sessionId?: unknown; readonly update?: unknown };
      if (id === undefined || isOver()) return undefined;
      if (sessionId !== id) {
        book.note('The agent sent an update of a session that is not its own. It was ignored.');
        return undefined;
      }
      const read = sessionUpdate.safeParse(update);
      if (read.success) return updated(read.data);
      const what = String((update as { readonly sessionUpdate?: unknown } | undefined)?.sessionUpdate);
      if (!isRepeating) vendor(what, plainData(update));
      if (!IDLE_UPDATES.has(what)) book.note(`The agent sent an update that is not understood: ${what}.`);
      return undefined;
    },
    opened(method, answer) {
      isRepeating = false;
      if (method !== 'session/new') return;
      const { sessionId } = (answer ?? {}) as { readonly sessionId?: unknown };
      if (typeof sessionId === 'string') opened(sessionId);
    },
    ignored: what => book.note(`The agent sent ${what}. It was ignored.`),
    broke: failed,
  };

  function opened(session: string | undefined): void {
    id = session;
    mode = undefined;
    if (session !== undefined) book.opened(session);
  }

  return {
    listener,
    /** The agent's session; undefined before it is open. */
    id: () => id,
    /** The last mode that the agent reported by itself. */
    mode: () => mode,
    /** An earlier session is about to be opened again. */
    reopening(session: string): void {
      opened(session);
      isRepeating = true;
    },
    /** The earlier session cannot be used. */
    gaveUp(): void {
      opened(undefined);
      isRepeating = false;
      isAsking = false;
    },
    /** The agent is in the mode in which it asks. Returns why it is not any more: it may have left before anybody watched. */
    asks(): TaskError | undefined {
      isAsking = true;
      return mode === undefined
        ? undefined
        : leftAsking(row, { sessionUpdate: 'current_mode_update', currentModeId: mode });
    },
  };
}

export type SessionWatch = ReturnType<typeof createSessionWatch>;
