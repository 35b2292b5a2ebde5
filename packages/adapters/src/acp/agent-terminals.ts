import path from 'node:path';
import {
  type CreateTerminalRequest,
  RequestError,
  type TerminalExitStatus,
  type TerminalOutputResponse,
} from '@agentclientprotocol/sdk';
import type { CommandEnd, RunningCommand } from '@signalbox/state';

/** The most output that is kept of a terminal, whatever the agent asks for. */
const MAX_OUTPUT_BYTES = 1_000_000;
/** The most terminals that an agent has at the same time. */
const MAX_OPEN = 16;

export interface AgentTerminals {
  /** The command as words, or why it cannot be run. */
  commandOf(request: CreateTerminalRequest): readonly string[];
  open(
    request: CreateTerminalRequest,
    ended: (hasSucceeded: boolean) => Promise<unknown>,
  ): { readonly terminalId: string };
  output(id: string): TerminalOutputResponse;
  exit(id: string): Promise<TerminalExitStatus>;
  kill(id: string): void;
  release(id: string): void;
  /** Ends all of them. */
  close(): Promise<void>;
}

interface Terminal {
  readonly command: RunningCommand;
  readonly limit: number;
  output: Buffer;
  isTruncated: boolean;
  exit?: TerminalExitStatus;
  readonly exited: Promise<TerminalExitStatus>;
}

/**
 * Commands that an agent runs through us, on the layer of its turn.
 *
 * 1. What is kept of their output is bounded: the newest bytes, from the start of a character on.
 * 2. None of them outlives the turn.
 */
export function createAgentTerminals(
  root: string,
  run: (command: readonly string[], env: Readonly<Record<string, string>>) => RunningCommand,
): AgentTerminals {
  const terminals = new Map<string, Terminal>();
  const running = new Set<Terminal>();
  let count = 0;

  function found(id: string): Terminal {
    const terminal = terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }

  return {
    commandOf({ command, args, cwd }) {
      const directory = path.normalize(cwd ?? root);
      if (directory !== root && !directory.startsWith(`${root}/`))
        throw RequestError.invalidParams({ cwd }, `it is outside ${root}`);
      // An agent that gives no arguments may give a line for a shell.
      const words = args === undefined || args.length === 0 ? ['/bin/sh', '-c', command] : [command, ...args];
      return directory === root
        ? words
        : ['/bin/sh', '-c', 'cd -- "$1" && shift && exec "$@"', 'sh', directory, ...words];
    },
    open(request, ended) {
      if (running.size >= MAX_OPEN) throw RequestError.invalidRequest(undefined, `${MAX_OPEN} terminals are open`);
      const words = this.commandOf(request);
      const command = run(words, Object.fromEntries((request.env ?? []).map(({ name, value }) => [name, value])));
      const exited = command.ended.then(async end => {
        running.delete(terminal);
        terminal.exit = exitOf(end);
        if (end.kind === 'not started' || end.kind === 'limit' || end.kind === 'no layer')
          append(terminal, Buffer.from(`\n${reasonOf(end)}\n`));
        await ended(end.kind === 'exited' && end.exitCode === 0);
        return terminal.exit;
      });
      const limit = Math.max(0, Math.min(request.outputByteLimit ?? MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES));
      const terminal: Terminal = { command, limit, output: Buffer.alloc(0), isTruncated: false, exited };
      command.onOutput(chunk => append(terminal, chunk));
      running.add(terminal);
      const terminalId = `terminal-${++count}`;
      terminals.set(terminalId, terminal);
      return { terminalId };
    },
    output(id) {
      const { output, isTruncated, exit } = found(id);
      return { output: output.toString('utf8'), truncated: isTruncated, ...(exit && { exitStatus: exit }) };
    },
    exit: id => found(id).exited,
    kill: id => found(id).command.kill(),
    release(id) {
      found(id).command.kill();
      terminals.delete(id);
    },
    async close() {
      for (const { command } of running) command.kill();
      await Promise.all([...running].map(({ exited }) => exited));
    },
  };
}

function append(terminal: Terminal, chunk: Buffer): void {
  const all = Buffer.concat([terminal.output, chunk]);
  if (all.length <= terminal.limit) {
    terminal.output = all;
    return;
  }
  let from = all.length - terminal.limit;
  while (from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from++;
  terminal.output = all.subarray(from);
  terminal.isTruncated = true;
}

function exitOf(end: CommandEnd): TerminalExitStatus {
  if (end.kind === 'exited') return { exitCode: end.exitCode };
  return end.kind === 'killed' ? { signal: end.signal } : { exitCode: 127 };
}

function reasonOf(end: Extract<CommandEnd, { kind: 'not started' | 'limit' | 'no layer' }>): string {
  return end.kind === 'limit' ? `It was ended: it reached its limit of ${end.limit}.` : `It was not run: ${end.reason}`;
}
