/**
 * Everything open in a user's name: sockets, MCP sessions, and requests being answered.
 *
 * D1  A door ends when its token is no longer valid: the user was removed, the token was replaced, or it expired.
 * D2  `check` resolves when nothing more can be sent on the doors that it ended.
 * D3  A token is checked at the moment it expires, and every token once a second, however many doors open meanwhile: another process may
 *     have removed its user.
 * D4  The server's own token is always valid, so nothing is checked while only that one is in use.
 */
import type { Machine } from '@signalbox/app/host';
import type { Clock } from '@signalbox/model';
import type { Identity } from './identity.ts';

const CHECK_EVERY_MS = 1_000;

export interface Door {
  readonly identity: Identity;
  /** Resolves when nothing more can be sent on it. */
  end(): void | Promise<void>;
}

export interface OpenDoors {
  /** Ends the door once its token is no longer valid. Call the returned function when it ends on its own. */
  hold(door: Door): () => void;
  /** Ends all doors with an invalid token, except the request that asks for it. */
  check(except?: Door): Promise<void>;
  close(): void;
}

export interface OpenDoorsOptions {
  readonly counts: (identity: Identity) => boolean;
  readonly timers: Machine['timers'];
  readonly clock: Clock;
  readonly onFault: (thrown: unknown) => void;
}

export function createOpenDoors({ counts, timers, clock, onFault }: OpenDoorsOptions): OpenDoors {
  const byToken = new Map<string, Set<Door>>();
  let stopChecking: (() => void) | undefined;
  let stopExpiring: (() => void) | undefined;
  let isClosed = false;

  async function check(except?: Door): Promise<void> {
    const ending: Door[] = [];
    for (const doors of byToken.values()) {
      const [first] = doors;
      if (first !== undefined && !counts(first.identity)) ending.push(...doors);
    }
    const others = ending.filter(door => door !== except);
    for (const door of others) release(door);
    await Promise.all(
      others.map(async door => {
        try {
          await door.end();
        } catch (thrown) {
          onFault(thrown);
        }
      }),
    );
  }

  function release(door: Door): void {
    const { tokenId } = door.identity;
    const doors = byToken.get(tokenId);
    doors?.delete(door);
    if (doors?.size === 0) byToken.delete(tokenId);
    if (!isWatching()) stop();
  }

  const isWatching = () => [...byToken.values()].some(([door]) => door !== undefined && !door.identity.isPermanent);

  function stop(): void {
    stopChecking?.();
    stopExpiring?.();
    stopChecking = undefined;
    stopExpiring = undefined;
  }

  function wait(): void {
    if (isClosed || !isWatching()) {
      stop();
      return;
    }
    stopChecking ??= timers.after(CHECK_EVERY_MS, () => {
      stopChecking = undefined;
      look();
    });
    stopExpiring?.();
    stopExpiring = undefined;
    const expiries = [...byToken.values()].flatMap(([door]) =>
      door?.identity.expiresAt === undefined ? [] : [Date.parse(door.identity.expiresAt) - clock.now()],
    );
    const nextMs = Math.min(...expiries);
    if (nextMs < CHECK_EVERY_MS) stopExpiring = timers.after(Math.max(0, nextMs), look);
  }

  /** Schedules the next check first, because ending doors may take a while. */
  function look(): void {
    check().catch(onFault);
    wait();
  }

  return {
    hold(door) {
      const { tokenId } = door.identity;
      const doors = byToken.get(tokenId) ?? new Set();
      byToken.set(tokenId, doors.add(door));
      if (stopChecking === undefined || door.identity.expiresAt !== undefined) wait();
      return () => release(door);
    },
    check,
    close() {
      isClosed = true;
      stop();
    },
  };
}
