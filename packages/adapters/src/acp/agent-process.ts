import type { Readable, Writable } from 'node:stream';
import type { Clock, IdSource, Result, SecretMac } from '@signalbox/model';
import type { Assignment, TaskError, TurnSurface } from '@signalbox/runs';
import type { AnyTool, LayerEntry, RunningCommand, Timers } from '@signalbox/state';
import type { AgentTools } from '../attempt/agent-tools.ts';
import type { AgentRow, InstalledAgent } from './register.ts';

/** A started agent, confined, on its layer. */
export interface AgentProcess {
  /** Newline-delimited JSON of ACP. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last 8 kB of its errors. */
  stderrTail(): string;
  /** Settles when nothing of it runs any more. In words: "exited with 3", "killed by SIGKILL", "could not be started: …". */
  readonly ended: Promise<{ readonly reason: string }>;
  /** Ends all of it: TERM, and KILL after 5 s. */
  kill(): void;
  /**
   * The working directory as the agent sees it, at a path of our own process: reads and writes there happen on its layer.
   * Undefined before the layer is entered and after it is left.
   */
  view(): string | undefined;
}

export interface AgentLaunch {
  readonly row: AgentRow;
  readonly installed: InstalledAgent;
  /** The working directory, with the layer mounted at the same path. */
  readonly root: string;
  /** Absolute host paths that it may not enter. */
  readonly refused: readonly string[];
  readonly layer?: LayerEntry;
  /** A directory of our own: the agent's HOME. The files of its row are in it. */
  readonly configHome: string;
  /** All variables that it sees, without placeholders. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A command that an agent runs through us, beside it on its layer. */
export interface TerminalLaunch extends Pick<AgentLaunch, 'root' | 'refused' | 'layer'> {
  readonly command: readonly string[];
  /** Variables that it sees besides harmless ones. */
  readonly env: Readonly<Record<string, string>>;
}

/** The dependencies of the runner of agents over ACP. */
export interface AcpPorts {
  agentOf(assignment: Assignment): Promise<Result<ChosenAgent, TaskError>>;
  start(launch: AgentLaunch): Result<AgentProcess, TaskError>;
  /** Starts a confined command. Without it, or while it returns undefined, agents are offered no terminals. */
  readonly terminal?: (() => ((launch: TerminalLaunch) => RunningCommand) | undefined) | undefined;
  /** The tools of the task's directory, with the turn's own tool among them. */
  benchFor(assignment: Assignment, turn: AnyTool): Promise<Result<AgentTools, TaskError>>;
  /** The private directory of a task: with `mayContinue` the one that an attempt before kept, otherwise an empty one. */
  configHome(assignment: Assignment, mayContinue: boolean): Promise<AgentHome>;
  /** A keyed hash of a text: without the key, nobody can check a guess (R42). */
  readonly mac: SecretMac;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly timers: Timers;
  /** How long an agent's process waits for a person. 10 minutes by default. */
  readonly parkMs?: number;
  /** An agent is ended after this much silence, unless a person is asked. 30 minutes by default. */
  readonly silenceMs?: number;
  /** Offers the agent the tools of its turn. Without it, it cannot ask a person by itself. */
  readonly turns?: TurnSurface | undefined;
  /** Whether the work has a cost limit: then an agent that reports no cost is refused. */
  readonly costLimited?: (assignment: Assignment) => boolean;
}

/** An agent's configuration home, with its sessions. */
export interface AgentHome {
  readonly path: string;
  /** Whether the attempt before was cut off, and nothing that the agent had changed was dropped with it. */
  readonly isUntouched: boolean;
  /** The session in it that the agent had begun to work in. */
  readonly session: string | undefined;
  /** Notes that the agent works on its prompt in this session. */
  took(session: string): void;
  /** The turn is cut off, nothing that the agent changed is dropped with it, and the agent will be started again. */
  keep(): void;
  remove(): void;
}

export interface ChosenAgent {
  readonly row: AgentRow;
  readonly installed: InstalledAgent;
  /** Nothing confines it, by configuration: it could write anywhere. */
  readonly isUnconfined?: boolean;
  /** The user's variables that it is given, and what any program needs. The row's settings are put over them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Its calls go through the meter, which counts them. */
  readonly meter?: MeteredAgent | undefined;
}

/** The meter, as a turn sees it. */
interface MeteredAgent {
  /** Settles when a call was refused for good: the agent is given a moment to end by itself. */
  readonly refused: Promise<unknown>;
  /** Why a call was refused; undefined if none was. */
  refusal(): CallRefusal | undefined;
}

export interface CallRefusal {
  readonly code: 'budget-exceeded' | 'price-unknown';
  readonly reason: string;
  /** What the task waits for, if a person was asked. */
  readonly waits?: string | undefined;
}
