import {
  type AdapterSessionId,
  type AgentBrief,
  type AgentHandle,
  type AgentId,
  type AgentPlugin,
  deriveId,
  err,
  type Json,
  ok,
  type PluginCapabilities,
  type PluginError,
  type PluginRegistration,
  type Result,
  type SerializedAgentState,
  thrownText,
  timestampOf,
  utf8Length,
} from '@signalbox/model';
import { type AgentOutcome, type AgentRunner, type Assignment, HALT, type TaskId } from '@signalbox/runs';
import * as z from 'zod';
import type { FleetPlugin, OpenPlugin } from '../fleet/fleet-plugin.ts';
import type { Machine } from '../machine.ts';
import type { AgentTranscripts } from './agent-transcript.ts';
import { assignmentOfBrief } from './brief-assignment.ts';
import { createEventSender, type EventSender } from './event-sender.ts';
import { type OwnSession, openOwnSession } from './own-session.ts';
import { createWorkEvents, type WorkEvents } from './work-events.ts';

export interface RunnerPluginOptions {
  readonly name: string;
  readonly version: string;
  readonly capabilities: PluginCapabilities;
  readonly toolClassifications: PluginRegistration['toolClassifications'];
  readonly runner: AgentRunner;
  readonly machine: Pick<Machine, 'clock' | 'ids' | 'timers'>;
  readonly transcripts: AgentTranscripts;
  /** The project's directory. */
  readonly project: string;
  /** Removes known secrets. */
  readonly clean: <T extends Json>(given: T) => T;
  /** Why the agent cannot be started here; undefined if it can. */
  readonly missing: () => string | undefined;
}

/** An agent that works: one adapter session. */
interface Life {
  readonly brief: AgentBrief;
  readonly sender: EventSender;
  readonly events: WorkEvents;
  readonly own: OwnSession;
  readonly stop: AbortController;
  /** Resolves when nothing of it runs any more. */
  over: Promise<void>;
  ended: boolean;
}

const taskEntry = z.looseObject({ kind: z.literal('fleet_task'), task: z.string() });

/**
 * Agents of a vendor as agents of the fleet: what runs an agent's turn in a plan runs them, and their questions are decisions of the fleet.
 *
 * 1. A spawn begins a new transcript, a resume continues the last one. Either is a new adapter session.
 * 2. A pause ends the agent's process, drops what its turn had not applied and keeps its transcript: it cannot stand still. When a pause or
 *    a kill is answered, nothing of the agent runs and nothing more is told.
 * 3. What cannot go on has crashed if another try may help; otherwise the agent's task is abandoned.
 */
export function runnerPlugin(options: RunnerPluginOptions): OpenPlugin {
  return ports => {
    const { name, version, capabilities, runner, machine, transcripts, project } = options;
    const lives = new Map<AgentId, Life>();
    /** Adapter sessions so far, also of agents that work no longer. */
    const sessions = new Map<AgentId, AdapterSessionId>();

    function begin(brief: AgentBrief, isResumed: boolean): Result<AgentHandle, PluginError> {
      const agent = brief.agentId;
      const missing = options.missing();
      if (missing !== undefined) return err({ code: 'provider_unavailable', message: missing, retryable: false });
      if (lives.has(agent)) return err({ code: 'invalid_state', message: `Agent ${agent} is running.` });
      const before = isResumed ? transcripts.read(agent) : [];
      const known = before.flatMap(entry => taskEntry.safeParse(entry).data?.task ?? [])[0];
      const task = known ?? deriveId<AgentId>('fleet-task', agent, ports.livesOf(agent));
      const assignment = assignmentOfBrief(brief, { plugin: name, project, task: task as TaskId });
      if (!assignment.ok) return err({ code: 'provider_unavailable', message: assignment.error, retryable: false });
      if (known === undefined) {
        transcripts.remove(agent);
        transcripts.add(agent, [{ v: 1, kind: 'fleet_task', task }]);
      }
      const session = machine.ids.mint<AdapterSessionId>();
      sessions.set(agent, session);
      const sink = ports.transportOf(agent).eventSink;
      const sender = createEventSender(agent, session, sink, machine);
      const { directory } = assignment.value;
      const place = { agent, session, pluginName: name, workstream: brief.workstream, project, directory };
      const events = createWorkEvents({ ...place, now: () => timestampOf(machine.clock) });
      const stop = new AbortController();
      const own = openOwnSession({
        ...{ agent, signal: stop.signal, timers: machine.timers, sender, events },
        before: before.filter(entry => !taskEntry.safeParse(entry).success),
        store(entries) {
          const clean = entries.map(entry => options.clean(entry));
          transcripts.add(agent, clean);
          return clean;
        },
        opened: () => ports.stored(stateOf(life, 'crash_recovery')),
      });
      const life: Life = { brief, sender, events, own, stop, over: Promise.resolve(), ended: false };
      lives.set(agent, life);
      life.over = live(life, assignment.value).finally(() => {
        sender.close();
        if (lives.get(agent) === life) lives.delete(agent);
      });
      return ok(handleOf(life));
    }

    async function live(life: Life, assignment: Assignment): Promise<void> {
      const { brief, own, stop, sender, events } = life;
      for (;;) {
        const news = own.news();
        const outcome = await ran(assignment, own);
        if (stop.signal.aborted) return;
        if (outcome.kind === 'blocked') {
          await Promise.race([news, aborted(stop.signal)]);
          if (stop.signal.aborted) return;
          continue;
        }
        life.ended = true;
        for (const event of events.ended(outcome)) sender.send(event);
        if (outcome.kind === 'done') return transcripts.remove(brief.agentId);
        const { class: of, message } = outcome.error;
        if (of === 'retryable') {
          ports.stored(stateOf(life, 'crash_recovery'));
          ports.crashed(brief.agentId, message);
        } else {
          const left = { artifactsProduced: events.artifacts(), decisionsNeeded: own.openDecisions() };
          sender.send({ type: 'completion', summary: '', ...left, outcome: 'abandoned', reason: message });
        }
        return;
      }
    }

    async function ran(assignment: Assignment, { session }: OwnSession): Promise<AgentOutcome> {
      try {
        return await runner.run(assignment, session);
      } catch (thrown) {
        return { kind: 'failed', error: { class: 'retryable', code: 'crashed', message: thrownText(thrown) } };
      }
    }

    function stateOf({ brief, sender, events, own }: Life, by: SerializedAgentState['serializedBy']) {
      const sessionId = events.vendorSession();
      const state: SerializedAgentState = {
        agentId: brief.agentId,
        pluginName: name,
        sessionId,
        checkpoint: { sdk: 'acp', agent: name, sessionId },
        briefSnapshot: brief,
        pendingDecisionIds: own.openDecisions(),
        lastSequence: sender.last(),
        serializedAt: timestampOf(machine.clock),
        serializedBy: by,
        estimatedSizeBytes: utf8Length(JSON.stringify(brief)),
      };
      return state;
    }

    const handleOf = ({ brief, events, own, ended }: Life): AgentHandle => ({
      id: brief.agentId,
      pluginName: name,
      status: ended ? 'completed' : own.openDecisions().length > 0 ? 'waiting_on_human' : 'running',
      sessionId: events.vendorSession(),
    });

    async function stopped({ id }: AgentHandle): Promise<Result<Life, PluginError>> {
      const life = lives.get(id);
      if (life === undefined) return err({ code: 'invalid_state', message: `Agent ${id} is not running.` });
      life.stop.abort(HALT);
      await life.over;
      return ok(life);
    }

    const plugin: AgentPlugin = {
      name,
      version,
      capabilities,
      spawn: async brief => begin(brief, false),
      resume: async ({ briefSnapshot }) => begin(briefSnapshot, true),
      async pause(handle) {
        const life = await stopped(handle);
        return life.ok ? ok(stateOf(life.value, 'pause')) : life;
      },
      async kill(handle) {
        const life = await stopped(handle);
        if (!life.ok) return life;
        const artifactsExtracted = life.value.events.artifacts().length;
        return ok({ state: stateOf(life.value, 'kill_grace'), artifactsExtracted, cleanShutdown: true });
      },
      async resolveDecision({ id }, decisionId, resolution) {
        const life = lives.get(id);
        if (life === undefined) return err({ code: 'invalid_state', message: `Agent ${id} is not running.` });
        return life.own.answer(decisionId, resolution)
          ? ok(undefined)
          : err({ code: 'decision_not_found', decisionId });
      },
      async injectContext({ id }, { content, snapshotVersion, estimatedTokens }) {
        const life = lives.get(id);
        if (life === undefined) return err({ code: 'invalid_state', message: `Agent ${id} is not running.` });
        const maxTokens = life.brief.sessionPolicy?.contextBudgetTokens ?? Number.POSITIVE_INFINITY;
        if (estimatedTokens > maxTokens)
          return err({ code: 'context_overflow', currentTokens: estimatedTokens, maxTokens });
        life.own.tell(deriveId<AgentId>('fleet-context', id, snapshotVersion, content), content, 'Signalbox');
        return ok(undefined);
      },
      async updateBrief(handle, changes) {
        const life = lives.get(handle.id);
        if (life === undefined) return err({ code: 'invalid_state', message: `Agent ${handle.id} is not running.` });
        return ok({ ...handleOf(life), pendingBriefChanges: { ...handle.pendingBriefChanges, ...changes } });
      },
    };

    const made: FleetPlugin = {
      plugin,
      toolClassifications: options.toolClassifications,
      sessionOf: agent => sessions.get(agent),
      replay: (agent, request) => lives.get(agent)?.sender.replay(request) ?? false,
      async close() {
        const all = [...lives.values()];
        for (const { stop } of all) stop.abort();
        await Promise.all(all.map(({ over }) => over));
      },
    };
    return made;
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
