import type { ToolKind } from '@agentclientprotocol/sdk';
import type { JsonObject } from '@signalbox/model';

export type { ToolKind };

/** One agent that speaks ACP, as plain data: how it is started, how it is made to ask, and its quirks. */
export interface AgentRow {
  readonly id: 'claude' | 'codex' | 'gemini' | 'opencode' | 'goose' | 'copilot' | 'qwen' | (string & {});
  /** For people: "Claude Code". */
  readonly title: string;
  /** Which component of a plan may be this agent; `any`: by its id only. */
  readonly vendor: 'claude' | 'codex' | 'gemini' | 'any';
  readonly package?: { readonly name: string; readonly version: string };
  /** `script`: run by our own Node, relative to the package; `bin`: from `node_modules/.bin`; `program`: found on the PATH. */
  readonly start: {
    readonly kind: 'script' | 'bin' | 'program';
    readonly file: string;
    readonly args: readonly string[];
  };
  /** The name of its program on the PATH, if it is not the file's or the package's. */
  readonly onPath?: string;
  /** The user's variables that it may see (keys, endpoints), by name. */
  readonly variables: readonly string[];
  /**
   * Variables that we set. `{home}` stands for its configuration home, `{root}` for the directory, `{secret}` for a password that only this
   * process of the agent has.
   */
  readonly settings: Readonly<Record<string, string>>;
  /** Files of its configuration home by relative path; their content has the same placeholders. */
  readonly homeFiles: Readonly<Record<string, string>>;
  /** How a model endpoint of one's own is given: merged over the fields above, with `{url}` and `{key}` as well. */
  readonly endpoint?: {
    readonly wire: 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';
    readonly settings?: Readonly<Record<string, string>>;
    readonly homeFiles?: Readonly<Record<string, string>>;
    readonly args?: readonly string[];
  };
  /** How its calls are led through the meter. Undefined: they cannot be, and pass beside it. */
  readonly meter?: {
    /** Its variables with keys that the meter can replace, the first one first. */
    readonly keys: readonly {
      readonly variable: string;
      readonly provider: string;
      readonly wire: 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';
      /** The provider's address, unless one's own is in `addressVariable`. */
      readonly address: string;
      readonly addressVariable?: string;
      /** Put into JSON variables if the user has this key: members are merged, lists joined. */
      readonly merged?: Readonly<Record<string, JsonObject>>;
    }[];
    /** Variables that lead it to the meter at `{url}`, where its first key is `{key}`. They win over its other settings. */
    readonly settings: Readonly<Record<string, string>>;
    /** Variables for a run with a token or cost limit: it asks for shorter answers, so that less is reserved for each call. */
    readonly limited?: Readonly<Record<string, string>>;
    /** The status of a refusal that ends it at once, and that it does not repeat. */
    readonly refusal: 402 | 429;
    /** Headers that tell the calls of its subagents apart. Undefined: nothing in a call tells them, so they are unknown. */
    readonly subagents?: {
      /** It is there in calls of subagents alone. */
      readonly mark: string;
      /** With the name of one. */
      readonly id: string;
      readonly parent?: string;
      readonly kind?: string;
    };
    /** What of its calls passes beside the meter, in a sentence. */
    readonly beside?: string;
  };
  /** The id of an authentication method, if it must be called. */
  readonly authenticate?: string;
  /** How it is made to ask, and how that is read back. `settings`: by its variables and files alone. */
  readonly asking:
    | { readonly kind: 'mode'; readonly mode: string }
    | { readonly kind: 'option'; readonly option: string; readonly value: string }
    | { readonly kind: 'settings' };
  /** How it continues a session that was cut off, reliably. Undefined: not tried, so as the agent says itself. */
  readonly continues?: readonly ('resume' | 'load')[];
  /** Kinds of tools that it runs unasked although it asks otherwise: reads, searches. */
  readonly unasked: readonly ToolKind[];
  /** How its model gets to know the tools of MCP servers, in a sentence. */
  readonly offering?: string;
  /** Fields of a tool's raw input that differ each time: ids of its own. They do not tell one question from another. */
  readonly volatile?: readonly string[];
  readonly reports: { readonly usage: boolean; readonly cost: boolean };
  /** `own`: it writes files itself; `client`: through `fs/*`. */
  readonly files: 'own' | 'client';
  /** Sentences for people. */
  readonly quirks: readonly string[];
  /** Whether a test here runs it. */
  readonly isTried: boolean;
}

/** An agent found on this machine. */
export interface InstalledAgent {
  /** The package's own directory, if it has one. */
  readonly directory?: string;
  /** The program and its arguments. */
  readonly program: readonly string[];
  readonly version: string;
  readonly from: 'data directory' | 'PATH' | 'command';
}

export { AGENT_ROWS } from './agent-rows.ts';
