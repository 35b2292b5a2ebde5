/** One thing that the echo agent does. */
export type EchoStep =
  | { readonly do: 'say' | 'think'; readonly text: string; readonly times?: number }
  | { readonly do: 'plan'; readonly entries: readonly string[] }
  /** Tells about a tool call that it makes unasked, in these statuses. */
  | (EchoCall & { readonly do: 'tool'; readonly statuses: readonly string[] })
  /** Asks for a permission, then does `allowed` or `denied`, and tells how the call ended. */
  | (EchoCall & {
      readonly do: 'ask';
      readonly options?: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
      readonly allowed?: readonly EchoStep[];
      readonly denied?: readonly EchoStep[];
      /** Done while the question is open. */
      readonly meanwhile?: readonly EchoStep[];
      /** Tells that the call was completed, whatever the answer was. */
      readonly regardless?: boolean;
      /** The session that it names. */
      readonly session?: string;
    })
  /** Asks for several permissions at once. */
  | { readonly do: 'askAtOnce'; readonly asks: readonly Extract<EchoStep, { readonly do: 'ask' }>[] }
  /** Writes a file by itself, relative to its directory; `append` adds a line to it. */
  | { readonly do: 'write' | 'append'; readonly file: string; readonly text: string }
  | { readonly do: 'link'; readonly file: string; readonly target: string }
  /** Reads or writes through the client, and says what came of it. */
  | { readonly do: 'clientRead'; readonly path: string; readonly line?: number; readonly limit?: number }
  | { readonly do: 'clientWrite'; readonly path: string; readonly text: string }
  /** Runs a command through the client, and says what came of it. With `kill` it does not wait for its end; with `leave` for nothing. */
  | {
      readonly do: 'terminal';
      readonly command: string;
      readonly args?: readonly string[];
      readonly cwd?: string;
      readonly outputByteLimit?: number;
      readonly kill?: boolean;
      readonly leave?: boolean;
    }
  /** Asks a person through the client, and says what came of it. */
  | {
      readonly do: 'elicit';
      readonly message: string;
      readonly schema?: object;
      readonly url?: string;
      readonly session?: string;
    }
  /** Calls a tool of the first MCP server that it was offered, and says what came of it. */
  | { readonly do: 'callTool'; readonly name: string; readonly input: object }
  /** Calls the model at `ANTHROPIC_BASE_URL`, as often in a row and so many at once, and says with which statuses it was answered. */
  | {
      readonly do: 'callModel';
      readonly times?: number;
      readonly atOnce?: number;
      /** Another key than its own. */
      readonly key?: string;
      readonly model?: string;
    }
  | { readonly do: 'cost'; readonly amount: number; readonly currency?: string }
  /** The tokens that it reports with the answer to the prompt. */
  | { readonly do: 'tokens'; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly do: 'mode'; readonly mode: string }
  | { readonly do: 'option'; readonly id: string; readonly value: string }
  /** Any update. */
  | { readonly do: 'update'; readonly update: object; readonly session?: string }
  /** Says the value of a variable. */
  | { readonly do: 'variable'; readonly name: string }
  /** Looks for a key in everything that it can read, and says where it is. */
  | { readonly do: 'search'; readonly halves: readonly [string, string]; readonly directories: readonly string[] }
  /** Says what a file of its home holds. */
  | { readonly do: 'homeRead'; readonly file: string }
  /** Says what it was asked in this prompt. */
  | { readonly do: 'repeat' }
  | { readonly do: 'stderr'; readonly text: string }
  | { readonly do: 'when'; readonly variable: string; readonly steps: readonly EchoStep[] }
  /** Ends the prompt. */
  | { readonly do: 'stop'; readonly reason: string }
  | { readonly do: 'fail'; readonly code: number; readonly message: string }
  /** Misbehaves: a line as it is, a line without an end, a second answer to this prompt. */
  | { readonly do: 'line'; readonly line: string }
  | { readonly do: 'longLine'; readonly bytes: number }
  | { readonly do: 'answerTwice' }
  /** Waits for ever; without `deaf`, until it is canceled. */
  | { readonly do: 'hang'; readonly deaf?: boolean }
  | { readonly do: 'exit'; readonly code: number }
  | { readonly do: 'ignoreTerm' };

export interface EchoCall {
  readonly id: string;
  readonly kind?: string;
  readonly title: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly locations?: readonly { readonly path: string }[];
  readonly diff?: { readonly path: string; readonly oldText?: string; readonly newText: string };
}

/** What the echo agent says about itself, in the variable `ECHO_AGENT`. */
export interface EchoSetup {
  readonly modes?: { readonly current: string; readonly available: readonly string[]; readonly stays?: boolean };
  readonly options?: readonly {
    readonly id: string;
    readonly category?: string;
    readonly current: string;
    readonly values: readonly string[];
    readonly stays?: boolean;
  }[];
  /** Needs this method before a session is opened. */
  readonly authenticate?: string;
  readonly protocolVersion?: number;
  /** Connects to no MCP server. */
  readonly noMcp?: boolean;
  /** Takes MCP servers, and does not ask for their tools. */
  readonly listsNoTools?: boolean;
  /** Answers nothing. */
  readonly silent?: boolean;
  /** What it does where a prompt says nothing about it: the steps of its first prompt, then of each later one. */
  readonly prompts?: readonly (readonly EchoStep[])[];
  /** Keeps its sessions in its home, and says that it can continue them so. */
  readonly continues?: readonly ('resume' | 'load')[];
  /** Fails to continue a session. */
  readonly forgets?: boolean;
}

/** A prompt that tells the echo agent what to do: the steps of its first prompt, then of each later one. */
export function echoPrompt(...prompts: readonly (readonly EchoStep[])[]): string {
  return `Do this.\n\`\`\`echo\n${JSON.stringify(prompts)}\n\`\`\``;
}

/** The program of the echo agent, which speaks ACP over its standard input and output. */
export const echoAgentProgram = new URL(
  import.meta.url.endsWith('.ts') ? 'echo-agent.ts' : 'echo-agent.js',
  import.meta.url,
).pathname;
