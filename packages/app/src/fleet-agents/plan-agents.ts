import { type AgentRecord, brakeAgainst } from '@signalbox/fleet';
import {
  type AdapterSessionId,
  type AgentId,
  asJson,
  cutAtWord,
  deriveId,
  type RunSeat as SeatInRun,
  timestampOf,
} from '@signalbox/model';
import { type AgentOutcome, type AgentRunner, type AgentSession, type Assignment, HALT } from '@signalbox/runs';
import { type AgentRegister, BUILTIN } from '../agent-register/agent-register.ts';
import type { FleetHost } from '../fleet/fleet-host.ts';
import type { LeftSeat, RunSeat } from '../fleet/run-seats.ts';
import type { Machine } from '../machine.ts';
import { createEventSender } from './event-sender.ts';
import { reportedSession } from './reported-session.ts';
import { createWorkEvents } from './work-events.ts';

/** The fleet that an agent of a plan belongs to. */
interface FleetOfRun {
  readonly host: Pick<FleetHost, 'state' | 'tell' | 'received' | 'onSettled' | 'seats'>;
  /** The project's directory. */
  readonly directory: string;
  /** The plan's name. */
  readonly plan: string;
}

export interface PlanAgentsPorts {
  readonly runner: AgentRunner;
  readonly register: Pick<AgentRegister, 'choose'>;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
  /** Undefined if the fleet cannot be opened: the run goes on without it. */
  readonly fleetOf: (assignment: Assignment) => Promise<FleetOfRun | undefined>;
}

const MAX_DESCRIPTION = 2_000;

/** The same agent in every turn and attempt of its node. */
export function planAgentId({ run, node }: Pick<Assignment, 'run' | 'node'>): AgentId {
  return deriveId<AgentId>('plan-agent', run, node);
}

/**
 * Agents of plans, as agents of the project's fleet: each turn joins it, tells what it does, and can be stopped by it.
 *
 * 1. What counts of a turn is in its run. The fleet is told afterwards, and nothing waits for it or fails because of it.
 * 2. No turn begins that a brake, or a person who paused its agent, holds: it waits in its run until it is let go on.
 * 3. A turn that is paused ends as if its run were paused, and is done again when it may go on. One that is killed has failed for good.
 */
export function planAgents({ runner, register, machine, fleetOf }: PlanAgentsPorts): AgentRunner {
  return {
    async run(assignment, session) {
      const fleet = await fleetOf(assignment);
      if (fleet === undefined) return runner.run(assignment, session);
      const seat = takeSeat(assignment, session, fleet);
      try {
        return await seat.work();
      } finally {
        seat.leave();
      }
    },
  };

  function takeSeat(assignment: Assignment, session: AgentSession, { host, directory, plan }: FleetOfRun) {
    const agent = planAgentId(assignment);
    const workstream = cutAtWord(plan, 256) || 'plan';
    const place: SeatInRun = { run: assignment.run, plan: workstream, node: assignment.node.slice(0, 1024) };
    const record = (): AgentRecord | undefined => host.state().agents.agents[agent];
    const wasKilled = record()?.wanted === 'kill';
    let stop = new AbortController();
    let isKilled = false;
    let isHeld = false;
    let mayGo = Promise.withResolvers<void>();
    /** The session that runs; undefined in between. */
    let working: Promise<LeftSeat> | undefined;

    const seat: RunSeat = {
      async stop(how) {
        if (how === 'kill') isKilled = true;
        else isHeld = true;
        stop.abort(HALT);
        mayGo.resolve();
        return (await working) ?? { sessionId: '', lastSequence: -1 };
      },
      resume() {
        const wasHeld = isHeld;
        isHeld = false;
        mayGo.resolve();
        return wasHeld;
      },
    };
    host.seats.take(agent, seat);

    function holds(): string | undefined {
      const brake = brakeAgainst(host.state().control, agent, workstream);
      if (brake !== undefined)
        return `A brake holds this agent: ${brake.action.reason}. Release it with: signalbox brake --release`;
      const { wanted, status } = record() ?? {};
      if (isHeld || (wanted === 'pause' && status === 'paused'))
        return 'A person paused this agent. Resume it with: signalbox fleet resume';
      return undefined;
    }

    /** Waits until nothing holds the agent. */
    async function free(): Promise<void> {
      let said: string | undefined;
      for (;;) {
        const why = holds();
        if (record()?.wanted === 'kill' && !wasKilled) isKilled = true;
        if (why === undefined || isKilled || session.signal.aborted) return;
        if (why !== said) session.stream('thinking', `${why}\n`);
        said = why;
        const news = Promise.withResolvers<void>();
        const ends = [host.onSettled(news.resolve), onAbort(session.signal, news.resolve)];
        await Promise.race([news.promise, mayGo.promise]);
        for (const end of ends) end();
        mayGo = Promise.withResolvers();
        // The fleet let it go on by its own decision.
        if (record()?.wanted === 'run' && record()?.status === 'starting') isHeld = false;
      }
    }

    async function work(): Promise<AgentOutcome> {
      for (;;) {
        await free();
        if (isKilled) return killed(assignment);
        if (session.signal.aborted) return canceled();
        stop = new AbortController();
        const outcome = await turn();
        if (isKilled) return killed(assignment);
        if (!stop.signal.aborted || session.signal.aborted) return outcome;
      }
    }

    async function turn(): Promise<AgentOutcome> {
      const ended = Promise.withResolvers<LeftSeat>();
      working = ended.promise;
      const adapterSession = machine.ids.mint<AdapterSessionId>();
      const choice = register.choose(assignment);
      const pluginName = choice.kind === 'installed' ? choice.row.id : (assignment.plugin ?? BUILTIN);
      const sender = createEventSender(agent, adapterSession, event => host.received(agent, asJson(event)), machine);
      const events = createWorkEvents({
        ...{ agent, session: adapterSession, pluginName, workstream, project: directory },
        directory: assignment.directory,
        now: () => timestampOf(machine.clock),
      });
      host.tell({
        kind: 'agent_joined',
        ...{ agentId: agent, name: cutAtWord(place.node, 256), pluginName, session: adapterSession, seat: place },
        changes: {
          ...{ role: 'Agent of a plan', workstream },
          description: cutAtWord(assignment.prompt, MAX_DESCRIPTION),
          ...(assignment.model === undefined ? {} : { modelPreference: assignment.model.slice(0, 256) }),
        },
      });
      const signal = AbortSignal.any([session.signal, stop.signal]);
      const { tell } = host;
      const reported = reportedSession(session, { agent, assignment, sender, events, tell, signal });
      try {
        const outcome = await runner.run(assignment, reported);
        // Whoever stopped it says so.
        if (!stop.signal.aborted) leftWith(outcome);
        return outcome;
      } catch (thrown) {
        host.tell({ kind: 'agent_left', agentId: agent, as: 'interrupted', reason: 'Its turn was cut off.' });
        throw thrown;
      } finally {
        sender.close();
        working = undefined;
        ended.resolve({ sessionId: events.vendorSession(), lastSequence: sender.last() });
      }

      function leftWith(outcome: AgentOutcome): void {
        const isCutOff = session.signal.aborted;
        if (!isCutOff) for (const event of events.ended(outcome)) sender.send(event);
        if (isCutOff) left('interrupted', 'Its run ended the turn.');
        else if (outcome.kind === 'done') left('done', 'Its turn is done.');
        else if (outcome.kind === 'blocked') left('waiting', `It waits in its run: ${outcome.reason}`);
        else left('failed', `Its turn failed: ${cutAtWord(outcome.error.message, 1_000)}`);
      }

      function left(as: 'done' | 'failed' | 'waiting' | 'interrupted', reason: string): void {
        host.tell({ kind: 'agent_left', agentId: agent, as, reason });
      }
    }

    return {
      work,
      leave() {
        host.seats.leave(agent, seat);
      },
    };
  }
}

function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  signal.addEventListener('abort', aborted, { once: true });
  if (signal.aborted) aborted();
  return () => signal.removeEventListener('abort', aborted);
}

function canceled(): AgentOutcome {
  return { kind: 'failed', error: { class: 'retryable', code: 'canceled', message: 'The work was canceled.' } };
}

function killed({ node }: Assignment): AgentOutcome {
  const message = `The agent of node ${node} was killed from the fleet. Start its work again with: signalbox resume`;
  return { kind: 'failed', error: { class: 'terminal', code: 'agent-killed', message } };
}
