import {
  type AgentBrief,
  type AgentHandle,
  type AgentHandleStatus,
  type ApprovalId,
  type BriefChanges,
  type ContextInjection,
  type PluginCapabilities,
  type PluginError,
  type ReplayRequest,
  type Resolution,
  type SerializedAgentState,
  type Timestamp,
  utf8Length,
} from '@signalbox/model';
import { type AdapterOutbox, adapterOutbox } from './adapter-outbox.ts';
import type { MockAgentScript, MockEventEntry } from './mock-script.ts';

/** What an agent does at a moment of scripted time. */
type Standing =
  | { readonly kind: 'running'; readonly dueAt: number }
  | { readonly kind: 'blocked'; readonly on: NonNullable<MockEventEntry['hitlBlock']>; readonly since: number }
  | { readonly kind: 'paused' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'hung' }
  | { readonly kind: 'crashed'; readonly restartAt: number | undefined }
  /** Killed, or aborted by a pause; `lateEntry` is still to be sent. */
  | { readonly kind: 'gone'; readonly lateEntry: MockEventEntry | undefined; readonly since: number };

const statusOf: Readonly<Record<Standing['kind'], AgentHandleStatus>> = {
  running: 'running',
  blocked: 'waiting_on_human',
  paused: 'paused',
  completed: 'completed',
  hung: 'running',
  crashed: 'error',
  gone: 'error',
};

export interface MockStage {
  readonly capabilities: PluginCapabilities;
  /** Scripted milliseconds since the beginning. */
  readonly elapsed: () => number;
  readonly now: () => Timestamp;
  readonly sink: (message: unknown) => void;
  /** Answers for a person; without it an agent takes its scripted answer by itself. */
  readonly answer: ((decision: ApprovalId, resolution: Resolution, brief: AgentBrief) => void) | undefined;
  readonly onCrash: ((handle: AgentHandle, reason: string) => void) | undefined;
}

export interface MockAgent {
  handle(): AgentHandle;
  standing(): Standing['kind'];
  brief(): AgentBrief;
  injections(): readonly ContextInjection[];
  /** When it next does something by itself, in scripted time. */
  dueAt(): number | undefined;
  act(): void;
  /** The error that the next call fails with, once. */
  takeError(): PluginError | undefined;
  resolve(decision: ApprovalId, resolution: Resolution): boolean;
  inject(injection: ContextInjection): void;
  change(changes: BriefChanges): void;
  serialized(by: SerializedAgentState['serializedBy']): SerializedAgentState;
  pause(): void;
  stop(): void;
  replay(request: ReplayRequest): boolean;
}

/** What a started agent begins with: nothing, or what was saved of it. */
export interface Beginning {
  readonly brief: AgentBrief;
  /** Counts the adapter sessions of the agent from 0. */
  readonly session: number;
  readonly position: number;
  /** Waits for this decision without asking again. */
  readonly waitsFor?: ApprovalId;
}

/** Plays the script of one agent. It acts only when told that its time has come, so a run is the same every time. */
export function mockAgent(script: MockAgentScript, stage: MockStage, beginning: Beginning): MockAgent {
  let { brief, session, position } = beginning;
  let outbox: AdapterOutbox;
  let standing: Standing;
  let pendingBriefChanges: BriefChanges | undefined;
  let nextError: PluginError | undefined;
  let lastAnswer: 'approval' | 'rejection' | undefined;
  /** Kept until the agent is stopped. */
  let lateEntry: MockEventEntry | undefined;
  const injections: ContextInjection[] = [];
  const allowedTools = new Set<string>();

  open(beginning.waitsFor);

  /** Begins an adapter session at the position. */
  function open(waitsFor?: ApprovalId): void {
    outbox = adapterOutbox({ agentId: brief.agentId, number: session, now: stage.now, sink: stage.sink });
    emit({ type: 'lifecycle', agentId: brief.agentId, action: 'session_start' });
    const block = script.events[position]?.hitlBlock;
    standing =
      block !== undefined && block.decisionId === waitsFor
        ? { kind: 'blocked', on: block, since: stage.elapsed() }
        : next();
  }

  function emit(event: MockEventEntry['event'], failure?: MockEventEntry['failureInjection']): void {
    outbox.send({ ...event, agentId: brief.agentId }, failure);
  }

  /** Running until the next entry that is to be played, or completed after the last. */
  function next(): Standing {
    while (isSkipped(script.events[position])) position += 1;
    const entry = script.events[position];
    if (entry === undefined) {
      emit({ type: 'lifecycle', agentId: brief.agentId, action: 'session_end' });
      outbox.flush();
      return { kind: 'completed' };
    }
    const late = entry.failureInjection?.type === 'timeout' ? entry.failureInjection.durationMs : 0;
    return { kind: 'running', dueAt: stage.elapsed() + entry.delayMs + late };
  }

  function isSkipped(entry: MockEventEntry | undefined): boolean {
    if (entry === undefined) return false;
    if (entry.onlyAfter !== undefined && entry.onlyAfter !== lastAnswer) return true;
    const { event } = entry;
    return event.type === 'decision' && event.subtype === 'tool_approval' && allowedTools.has(event.toolName);
  }

  function play(entry: MockEventEntry): void {
    const failure = entry.failureInjection;
    switch (failure?.type) {
      case 'crash': {
        const { restartAfterMs } = failure;
        const restartAt = restartAfterMs === null ? undefined : stage.elapsed() + restartAfterMs;
        // What was in progress is lost; the script goes on after it.
        position += 1;
        standing = { kind: 'crashed', restartAt };
        stage.onCrash?.(handle(), 'The process ended with signal SIGKILL.');
        return;
      }
      case 'hang':
        standing = { kind: 'hung' };
        return;
      case 'late_after_kill':
        // Sent after a kill, and not before.
        position += 1;
        lateEntry = entry;
        standing = next();
        return;
      case 'guardrail_trip':
        emit({
          type: 'guardrail',
          agentId: brief.agentId,
          guardrailName: failure.guardrailName,
          level: 'output',
          tripped: true,
          message: failure.message,
        });
        position += 1;
        standing = next();
        return;
      case 'error':
        nextError = failure.error;
        break;
      default:
        break;
    }
    emit(entry.event, failure);
    if (entry.hitlBlock !== undefined) {
      standing = { kind: 'blocked', on: entry.hitlBlock, since: stage.elapsed() };
      return;
    }
    position += 1;
    standing = next();
  }

  function handle(): AgentHandle {
    return {
      id: brief.agentId,
      pluginName: 'mock',
      status: statusOf[standing.kind],
      sessionId: `mock-${session}`,
      ...(pendingBriefChanges === undefined ? {} : { pendingBriefChanges }),
    };
  }

  function resolve(decision: ApprovalId, resolution: Resolution): boolean {
    if (standing.kind !== 'blocked' || standing.on.decisionId !== decision) return false;
    const event = script.events[position]?.event;
    lastAnswer = resolution.resolutionType === 'reject' ? 'rejection' : 'approval';
    if (resolution.alwaysApprove === true && event?.type === 'decision' && event.subtype === 'tool_approval') {
      allowedTools.add(event.toolName);
    }
    position += 1;
    if (stage.capabilities.supportsResume) {
      standing = next();
    } else {
      // A new turn with the conversation so far: another session of the adapter.
      emit({ type: 'lifecycle', agentId: brief.agentId, action: 'session_end', reason: 'The decision was resolved.' });
      session += 1;
      open();
    }
    return true;
  }

  function autoResolveAt(): number | undefined {
    if (standing.kind !== 'blocked') return undefined;
    const { autoResolveAfterMs, autoResolution } = standing.on;
    return autoResolveAfterMs === undefined || autoResolution === undefined
      ? undefined
      : standing.since + autoResolveAfterMs;
  }

  return {
    handle,
    standing: () => standing.kind,
    brief: () => brief,
    injections: () => injections,
    dueAt() {
      switch (standing.kind) {
        case 'running':
          return standing.dueAt;
        case 'blocked':
          return autoResolveAt();
        case 'crashed':
          return standing.restartAt;
        case 'gone':
          return standing.lateEntry === undefined ? undefined : standing.since;
        default:
          return undefined;
      }
    },
    act() {
      if (standing.kind === 'gone' && standing.lateEntry !== undefined) {
        emit(standing.lateEntry.event);
        standing = { ...standing, lateEntry: undefined };
      } else if (standing.kind === 'crashed' && standing.restartAt !== undefined) {
        session += 1;
        open();
      } else if (standing.kind === 'blocked') {
        const { decisionId, autoResolution } = standing.on;
        // Answered once: a person who takes longer is waited for.
        standing = { ...standing, on: { decisionId } };
        if (autoResolution === undefined) return;
        if (stage.answer === undefined) resolve(decisionId, autoResolution);
        else stage.answer(decisionId, autoResolution, brief);
      } else if (standing.kind === 'running') {
        const entry = script.events[position];
        if (entry !== undefined) play(entry);
      }
    },
    takeError() {
      const error = nextError;
      nextError = undefined;
      return error;
    },
    resolve,
    inject(injection) {
      const isKnown = injections.some(
        ({ snapshotVersion, content }) =>
          snapshotVersion === injection.snapshotVersion && content === injection.content,
      );
      if (!isKnown) injections.push(injection);
    },
    change(changes) {
      if (stage.capabilities.supportsHotBriefUpdate) brief = { ...brief, ...changes } as AgentBrief;
      else pendingBriefChanges = { ...pendingBriefChanges, ...changes };
    },
    serialized(serializedBy) {
      const briefSnapshot = { ...brief, ...pendingBriefChanges } as AgentBrief;
      return {
        agentId: brief.agentId,
        pluginName: 'mock',
        sessionId: `mock-${session}`,
        checkpoint: { sdk: 'mock', scriptPosition: position },
        briefSnapshot,
        pendingDecisionIds: standing.kind === 'blocked' ? [standing.on.decisionId] : [],
        lastSequence: outbox.lastSequence(),
        serializedAt: stage.now(),
        serializedBy,
        estimatedSizeBytes: utf8Length(JSON.stringify(briefSnapshot)),
      };
    },
    pause() {
      standing = { kind: 'paused' };
    },
    stop() {
      standing = { kind: 'gone', lateEntry, since: stage.elapsed() };
    },
    replay: request => outbox.replay(request),
  };
}

/** Where a turn began: after the last decision that was resolved before a position. */
export function turnStart(script: MockAgentScript, position: number): number {
  return script.events.slice(0, position).findLastIndex(({ hitlBlock }) => hitlBlock !== undefined) + 1;
}
