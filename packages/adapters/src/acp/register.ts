import type { ToolKind } from '@agentclientprotocol/sdk';

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
