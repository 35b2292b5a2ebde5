import type { Json } from '@signalbox/model';
import type * as z from 'zod';
import type { FailedAttempt } from '../failures/attempt-error.ts';
import type { Duration } from '../failures/duration.ts';
import type { BuiltIn, PlanChild, PlanElement } from '../jsx/element.ts';
import type { AnyPlan, PlanInput } from '../plan-definition.ts';
import type { OwnTool } from '../tools/own-tool.ts';
import type { TaskContext, TaskFailure, TaskProgress } from './handlers.ts';
import type { NodeKind } from './node-kind.ts';

interface Common {
  /** The node's stable id. Without one, the node is identified by its place. */
  readonly id?: string;
  /** Shown to people instead of the kind and the id. */
  readonly label?: string;
}

interface WithChildren {
  readonly children?: PlanChild;
}

/** Nodes that start work, and report on it. A handler runs once, in one transaction with the end of the work. */
interface Observable<Output> extends Common {
  readonly onFinished?: (output: Output) => void;
  readonly onError?: (error: TaskFailure) => void;
  readonly onProgress?: (progress: TaskProgress) => void;
  readonly onBlocked?: (reason: string) => void;
  /** Like `onError`, and what comes after the node goes on. */
  readonly onFailed?: (error: TaskFailure) => void;
  /** Whether what comes after the node goes on if it fails. */
  readonly allowFailure?: boolean;
  readonly retry?: RetryProps;
  /** How often failed work is retried; 3 by default. `retry` says more. */
  readonly retries?: number;
  /** How long one attempt may take: milliseconds, or a text such as `30s`. */
  readonly timeout?: Duration;
  readonly timeoutMs?: number;
}

/** When work that failed is tried again. What has effects outside is not, unless it is idempotent. */
export interface RetryProps {
  /** How often it is tried at most; 4 by default, and 1 for no retry. */
  readonly attempts?: number;
  /** The same wait each time, or a growing one: from 1 s, doubled each time, up to 5 minutes. Up to half of it is left out at random. */
  readonly backoff?: Duration | { readonly first?: Duration; readonly factor?: number; readonly max?: Duration };
  /** Only these failures: names of errors and codes such as `timeout`, or a function that returns true for them. */
  readonly on?: readonly string[] | ((failed: FailedAttempt) => boolean);
}

export interface IfProps extends Common, WithChildren {
  readonly condition: boolean | (() => boolean);
  readonly else?: PlanChild;
}

export interface SwitchProps<Value extends string | number | boolean> extends Common {
  readonly value: Value;
  readonly cases: { readonly [Case in `${Value}`]?: PlanChild };
  readonly default?: PlanChild;
}

export interface EachProps<Item> extends Common {
  readonly items: readonly Item[];
  readonly children: (item: Item, index: number) => PlanElement;
}

/** The body of a loop, written once or made for each iteration, counted from 0. */
type LoopBody = PlanChild | ((loop: { readonly iteration: number }) => PlanChild);

export interface WhileProps extends Common {
  readonly condition: boolean | (() => boolean);
  /** 100 by default. The loop ends there. */
  readonly maxIterations?: number;
  readonly children?: LoopBody;
}

export interface RalphProps extends Common {
  readonly until?: boolean | (() => boolean);
  /** 100 by default. The loop ends there. */
  readonly maxIterations?: number;
  readonly children?: LoopBody;
}

export interface RecoverProps extends Common, WithChildren {
  /** What runs instead once something in it has failed for good. */
  readonly fallback: PlanChild;
}

export interface PhaseProps extends Common, WithChildren {
  readonly name: string;
}

export interface StepProps extends Common, WithChildren {
  readonly name?: string;
}

export interface ParallelProps extends Common, WithChildren {
  /** The most children running at once. */
  readonly limit?: number;
}

type OutputSchema = z.ZodType | { readonly [key: string]: Json };
type OutputOf<Schema> = Schema extends z.ZodType ? z.infer<Schema> : unknown;

/** An MCP server: a program that is started for each attempt, confined like commands of agents, or an address. */
export type McpServer = {
  /** The server's tools that the agent is given. */
  readonly allow: readonly string[];
  /** Written before the names of its tools, with `_`: for servers whose tools have the same names. */
  readonly prefix?: string;
} & (
  | {
      readonly command: readonly string[];
      /** Names of environment variables that it may see. Their values are in no plan and no log. */
      readonly env?: readonly string[];
    }
  | {
      readonly url: string;
      /** The name of an environment variable whose value is sent as a bearer token. */
      readonly token?: string;
    }
);

export interface VendorAgentProps<Schema extends OutputSchema>
  extends Observable<OutputSchema extends Schema ? string : OutputOf<Schema>> {
  readonly model?: string;
  /** The name of an installed agent, or `builtin` for Signalbox's own. */
  readonly plugin?: string;
  /** The agent's prompt; or write it between the tags. */
  readonly prompt?: string;
  readonly system?: string;
  /** Names of built-in tools and tools of your own; or which names are allowed or denied. All built-in ones by default. */
  readonly tools?:
    | readonly (string | OwnTool)[]
    | { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  /** MCP servers whose tools it is given besides. For the built-in agent. */
  readonly mcp?: readonly McpServer[];
  /** The output must match it; without one the output is text. */
  readonly schema?: Schema;
  /** 50 by default. */
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly history?: { readonly maxMessages?: number; readonly maxTokens?: number };
  readonly resume?: 'continue' | 'restart' | 'fail';
  /** Whether a person must allow every change; `skip` by default. Risky calls are asked for anyway. */
  readonly permissions?: 'gated' | 'skip';
  /**
   * When the changes of an installed agent reach the directory: `auto` unless told otherwise; `ask`: after a person saw them; `hold`: when
   * a `Keep` says so.
   */
  readonly apply?: 'ask' | 'auto' | 'never' | 'hold';
  /**
   * A command for the shell, such as `npm test`, that is run on the changes of an installed agent before they are applied: confined, without
   * a network, and nothing that it writes stays. With `apply="auto"` they are applied only if it succeeds.
   */
  readonly check?: string;
  readonly cwd?: string;
  readonly children?: PlanChild;
}

/** Names a model, or an installed agent that has its own. */
export type AgentProps<Schema extends OutputSchema> = VendorAgentProps<Schema> &
  ({ readonly model: string } | { readonly plugin: string });

export interface TaskProps<Output> extends Observable<Output> {
  /** The work. It returns plain data; an exception makes the node fail. */
  readonly run: (task: TaskContext) => Output | Promise<Output>;
  /** Passed to `run`. When it changes after the task succeeded, the task runs again. */
  readonly input?: Json;
  /**
   * What happens to the world if it runs twice; `none` by default. Interrupted work with `external` effects does not start again before a
   * person has looked. If you declare `none`, several tasks may run before the first is in the log, which is twice as fast; after a crash
   * they run again.
   */
  readonly effects?: 'none' | 'undoable' | 'external';
  /** Running it twice does the same as running it once: it is retried, and starts again, whatever its effects are. */
  readonly idempotent?: boolean;
}

export interface HumanProps<Schema extends OutputSchema> extends Observable<OutputOf<Schema>> {
  /** A person said no, and the plan goes on. Without it, and without `onFinished`, a denied confirmation stops the run. */
  readonly onDenied?: (error: TaskFailure) => void;
  /** The question to the person; or write it between the tags. */
  readonly prompt?: string;
  readonly options?: readonly { readonly id: string; readonly label?: string }[];
  readonly schema?: Schema;
  /** Shown beside the question. */
  readonly context?: Json;
  readonly children?: PlanChild;
}

/** The attempts that a `Keep` compared, and the one whose changes it applied. */
export interface Kept {
  /** The id of an agent's node; null if nothing was kept. */
  readonly kept: string | null;
  readonly attempts: readonly KeepAttempt[];
}

export interface KeepAttempt {
  readonly node: string;
  readonly agent: string;
  /** Why the agent failed; its changes were dropped. */
  readonly error?: string;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** Without a check, or without changes to check, there is none. */
  readonly check?: { readonly passed: boolean; readonly says: string; readonly output: string };
  /** Undefined where the agent does not report them. */
  readonly tokens?: number;
  readonly costMicroUsd?: number;
  readonly ms?: number;
}

export interface KeepProps extends Observable<Kept> {
  /** Ids of agents' nodes with `apply="hold"` that are done, or that failed. */
  readonly from: readonly string[];
  /** `ask` a person (the default), apply the first whose `check` passed, or `never` apply anything. */
  readonly apply?: 'ask' | 'check' | 'never';
  /** The question to the person. */
  readonly prompt?: string;
}

export interface SubPlanProps<Plan extends AnyPlan> extends Observable<Json> {
  readonly plan: Plan;
  readonly input?: PlanInput<Plan>;
}

interface TimerHandlers extends Common {
  /** Gets the time that it waited for. */
  readonly onFinished?: (due: string) => void;
  readonly onError?: (error: TaskFailure) => void;
  readonly onBlocked?: (reason: string) => void;
}

/** The time is set when the timer is first reached; no later render or restart moves it. */
export type TimerProps = TimerHandlers &
  (
    | {
        /** An ISO time with its zone, such as `2027-01-31T09:00:00Z`. */
        readonly until: string;
        readonly forMs?: never;
      }
    | { readonly forMs: number; readonly until?: never }
  );

export interface EffectProps {
  readonly id: string;
  readonly label?: string;
  /** The effect runs when these change, compared as plain data; without them it runs once. */
  readonly deps?: readonly Json[];
  /** May return a cleanup function. */
  readonly run: () => unknown;
  readonly cleanup?: () => void;
}

export interface EndingProps extends Common {
  readonly reason?: string;
}

type BuiltInComponent<Props> = (props: Props) => PlanElement;

export const If: BuiltInComponent<IfProps> = builtIn('if', 'If');
export const Switch: <const Value extends string | number | boolean>(props: SwitchProps<Value>) => PlanElement =
  builtIn('switch', 'Switch');
export const Each: <Item>(props: EachProps<Item>) => PlanElement = builtIn('each', 'Each');
export const While: BuiltInComponent<WhileProps> = builtIn('while', 'While');
/** Catches failures of what it holds: work still under way there ends first, then the fallback runs in its place. */
export const Recover: BuiltInComponent<RecoverProps> = builtIn('recover', 'Recover');
export const Ralph: BuiltInComponent<RalphProps> = builtIn('ralph', 'Ralph');
export const Phase: BuiltInComponent<PhaseProps> = builtIn('phase', 'Phase');
export const Step: BuiltInComponent<StepProps> = builtIn('step', 'Step');
export const Parallel: BuiltInComponent<ParallelProps> = builtIn('parallel', 'Parallel');
export const Agent: <Schema extends OutputSchema = OutputSchema>(props: AgentProps<Schema>) => PlanElement = builtIn(
  'agent',
  'Agent',
);

type Vendor = <Schema extends OutputSchema = OutputSchema>(props: VendorAgentProps<Schema>) => PlanElement;
export const Claude: Vendor = builtIn('claude', 'Claude');
export const Codex: Vendor = builtIn('codex', 'Codex');
export const Gemini: Vendor = builtIn('gemini', 'Gemini');
export const OpenAI: Vendor = builtIn('openai', 'OpenAI');

export const Task: <Output>(props: TaskProps<Output>) => PlanElement = builtIn('task', 'Task');
export const Human: <Schema extends OutputSchema = OutputSchema>(props: HumanProps<Schema>) => PlanElement = builtIn(
  'human',
  'Human',
);
/** Compares the changes that agents hold, applies those of one at most, and drops the others. */
export const Keep: BuiltInComponent<KeepProps> = builtIn('keep', 'Keep');
export const SubPlan: <Plan extends AnyPlan>(props: SubPlanProps<Plan>) => PlanElement = builtIn('subplan', 'SubPlan');
/** Waits until a time or for a duration. Nothing has to run meanwhile: a timer that is due fires when its run is resumed. */
export const Timer: BuiltInComponent<TimerProps> = builtIn('timer', 'Timer');
export const Effect: BuiltInComponent<EffectProps> = builtIn('effect', 'Effect');
/** Stops the run once its place is reached. */
export const Stop: BuiltInComponent<EndingProps> = builtIn('stop', 'Stop');
/** Completes the run once its place is reached: nothing new starts, running work may finish. */
export const End: BuiltInComponent<EndingProps> = builtIn('end', 'End');

function builtIn(kind: NodeKind, name: string): BuiltIn & ((props: unknown) => PlanElement) {
  const component = () => {
    throw new TypeError(`<${name}> is written as JSX, not called`);
  };
  return Object.assign(Object.defineProperty(component, 'name', { value: name }), { kind });
}
