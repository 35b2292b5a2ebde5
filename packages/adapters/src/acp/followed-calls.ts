import { cutAtWord } from '@signalbox/model';
import type { InnerCalls, InnerEnd } from '@signalbox/state';
import { toolOf } from './asked-call.ts';
import { mayChange } from './permission.ts';
import type { BookedCall } from './turn-book.ts';

export type CallStatus = 'succeeded' | 'failed' | 'denied' | 'unknown';

/**
 * Tells apart what an agent's calls change on its layer, so that each of them can be undone alone. Calls that cannot change files are not
 * followed.
 */
export interface FollowedCalls {
  /** Changes from now on are this call's. Settles when it may begin; `running`: it may have begun already. */
  begin(call: BookedCall, running: boolean): Promise<void> | undefined;
  /** The call has ended. Why it can be undone only with the whole turn; undefined if it can be undone alone, or changed nothing. */
  end(call: BookedCall, status: CallStatus, summary: string): Promise<string | undefined> | undefined;
  /** The agent has done what it was asked: calls whose end it did not report are over. */
  stop(): Promise<unknown>;
  /** Notes on what is not followed any more. */
  notes(): readonly string[];
}

export function followCalls(inner: InnerCalls): FollowedCalls {
  const keys = new Map<BookedCall, string>();
  const titles = new Map<string, string>();
  const open = new Set<string>();

  function begin(call: BookedCall, running: boolean): Promise<void> | undefined {
    if (keys.has(call) || !mayChange(call.told)) return undefined;
    const key = String(keys.size + 1);
    keys.set(call, key);
    titles.set(key, titleOf(call));
    open.add(key);
    return inner.begin(key, { running });
  }

  async function ended(
    call: BookedCall,
    key: string,
    status: CallStatus,
    summary: string,
  ): Promise<string | undefined> {
    if (status === 'denied' || status === 'unknown') {
      await inner.abort(key);
      return status === 'denied' ? undefined : 'the agent did not report its end';
    }
    const { told, name = '' } = call;
    titles.set(key, titleOf(call));
    const said = summary === '' ? titleOf(call) : summary;
    return notAlone(await inner.end(key, { id: name, tool: toolOf(told), outcome: status, summary: said }));
  }

  function notAlone(end: InnerEnd): string | undefined {
    switch (end.kind) {
      case 'kept':
      case 'unchanged':
        return undefined;
      case 'mixed':
        return `it ran at the same time as ${named(end.with)}`;
      case 'late':
        return 'it had changed files before the agent reported it';
      case 'unknown':
        return `its changes could not be told apart: ${cutAtWord(end.reason, 300)}`;
    }
  }

  function named(others: readonly string[]): string {
    const shown = others.slice(0, SHOWN).map(key => JSON.stringify(cutAtWord(titles.get(key) ?? '', 100)));
    return [...shown, ...(others.length > SHOWN ? [`${others.length - SHOWN} more`] : [])].join(', ');
  }

  return {
    begin,
    end(call, status, summary) {
      // Of a call that is reported only at its end, it is known whether it can have changed anything.
      if ((status === 'succeeded' || status === 'failed') && call.permission?.kind !== 'deny') begin(call, true);
      const key = keys.get(call);
      if (key !== undefined) open.delete(key);
      return key === undefined ? undefined : ended(call, key, status, summary);
    },
    stop() {
      const left = [...open];
      open.clear();
      return Promise.all(left.map(inner.abort));
    },
    notes: () =>
      inner
        .leftOut()
        .map(
          path => `Too much changed in ${path} to tell calls apart there. It can be undone only with the whole turn.`,
        ),
  };
}

const SHOWN = 5;

function titleOf({ told }: BookedCall): string {
  return told.title ?? toolOf(told);
}
