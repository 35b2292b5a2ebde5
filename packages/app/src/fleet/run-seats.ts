import type { AgentId } from '@signalbox/model';

/** How far an agent came in the session that was ended. */
export interface LeftSeat {
  /** The vendor's; empty if it was not told. */
  readonly sessionId: string;
  readonly lastSequence: number;
}

/** An agent of a plan in its run, in this process: its turn is under way, or waits to be let go on. */
export interface RunSeat {
  /** Resolves when nothing of the agent runs any more. A killed agent's work has failed. */
  stop(how: 'pause' | 'kill'): Promise<LeftSeat>;
  /** False if it does not wait for that. */
  resume(): boolean;
}

/** The agents of plans that are in their runs now. */
export interface RunSeats {
  of(agent: AgentId): RunSeat | undefined;
  take(agent: AgentId, seat: RunSeat): void;
  leave(agent: AgentId, seat: RunSeat): void;
}

export function createRunSeats(): RunSeats {
  const seats = new Map<AgentId, RunSeat>();
  return {
    of: agent => seats.get(agent),
    take: (agent, seat) => void seats.set(agent, seat),
    leave(agent, seat) {
      if (seats.get(agent) === seat) seats.delete(agent);
    },
  };
}
