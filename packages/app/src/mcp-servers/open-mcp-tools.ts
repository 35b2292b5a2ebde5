import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport, type Tool, type Transport } from '@modelcontextprotocol/client';
import { canonicalJson, didYouMean, err, type Json, ok, type Result, thrownMessage } from '@signalbox/model';
import type { Assignment, McpServerOffer, TaskError } from '@signalbox/runs';
import {
  AGENT_LIMITS,
  type AnyTool,
  harmlessEnv,
  type InteractiveProcess,
  openInGroup,
  type SandboxDetection,
} from '@signalbox/state';
import { boundedFetch } from './bounded-fetch.ts';
import { mcpTool } from './mcp-tool.ts';
import { processTransport } from './process-transport.ts';

export interface McpPorts {
  readonly dataDirectory: string;
  readonly sandbox: SandboxDetection;
  /** Whether programs may run unconfined where they cannot be confined. */
  readonly allowUnconfined: boolean;
  /** Where the variables are that a server may see by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes secrets out of what a server says of its tools. */
  readonly clean: (text: string) => string;
  /** The file that remembers what this task was offered before. */
  readonly memory: string;
  readonly limits?: Partial<McpLimits>;
}

export interface McpLimits {
  readonly connectMs: number;
  readonly callMs: number;
  readonly messageBytes: number;
  readonly messages: number;
  readonly tools: number;
}

const LIMITS: McpLimits = {
  connectMs: 120_000,
  callMs: 120_000,
  messageBytes: 4 << 20,
  messages: 10_000,
  tools: 500,
};

export interface McpTools {
  readonly tools: readonly AnyTool[];
  close(): Promise<void>;
}

/**
 * The tools of MCP servers, for one attempt of an agent.
 *
 * 1. A program is confined to the agent's directory, as commands are; where it cannot be, it is not started.
 * 2. What a server offers is fixed when the attempt begins. A later attempt of the same task that is offered anything else is refused.
 * 3. Whatever a server does, it costs bounded time and memory, and is an error that names it.
 */
export async function openMcpTools(
  servers: readonly McpServerOffer[],
  { directory }: Pick<Assignment, 'directory'>,
  ports: McpPorts,
): Promise<Result<McpTools, TaskError>> {
  const limits = { ...LIMITS, ...ports.limits };
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => void (await Promise.allSettled(opened.map(one => one.close())));
  const tools: AnyTool[] = [];
  const digests: Record<string, string> = {};
  try {
    for (const [at, server] of servers.entries()) {
      const connected = await connect(server, directory, ports, limits);
      opened.push(connected);
      const { client, name, fault } = connected;
      const listed = await named(name, fault, () => listTools(client, limits));
      const chosen = chosenTools(server, listed, name);
      digests[String(at)] = digestOf(chosen);
      for (const offered of chosen) {
        const as = server.prefix === undefined ? offered.name : `${server.prefix}_${offered.name}`;
        if (tools.some(one => one.name === as))
          throw new McpFault(`Two servers have a tool "${as}": give one of them a prefix.`, 'terminal');
        tools.push(
          mcpTool({
            ...{ name: as, offered, isLocal: server.url === undefined, server: name, clean: ports.clean },
            call: (input, signal) =>
              named(name, fault, () =>
                client.callTool({ name: offered.name, arguments: input }, { signal, timeout: limits.callMs }),
              ),
          }),
        );
      }
    }
    sameAsBefore(ports.memory, digests, servers);
    return ok({ tools, close });
  } catch (thrown) {
    await close();
    if (!(thrown instanceof McpFault)) throw thrown;
    return err({ class: thrown.kind, code: 'mcp-failed', message: ports.clean(thrown.message) });
  }
}

class McpFault extends Error {
  readonly kind: TaskError['class'];

  constructor(message: string, kind: TaskError['class']) {
    super(message);
    this.kind = kind;
  }
}

/** What goes wrong with a server names it, and says what it did. */
async function named<T>(name: string, fault: () => string | undefined, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof McpFault) throw cause;
    throw new McpFault(`The MCP server ${name} failed: ${fault() ?? thrownMessage(cause)}.`, 'retryable');
  }
}

async function connect(server: McpServerOffer, directory: string, ports: McpPorts, limits: McpLimits) {
  const name = nameOf(server);
  const { transport, fault, end } =
    server.url === undefined ? startServer(server, directory, ports, limits) : reach(server, ports, limits);
  const client = new Client({ name: 'signalbox', version: '1' }, { capabilities: {} });
  const close = async () => {
    await client.close().catch(() => undefined);
    await end();
  };
  try {
    await named(name, fault, () => within(client.connect(transport, { timeout: limits.connectMs }), limits.connectMs));
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { client, name, fault, close };
}

function nameOf({ command, url }: McpServerOffer): string {
  return url === undefined ? JSON.stringify(path.basename(command?.at(-1) ?? '')) : new URL(url).origin;
}

interface Reached {
  readonly transport: Transport;
  readonly fault: () => string | undefined;
  end(): Promise<void>;
}

function reach({ url = '', token }: McpServerOffer, { env }: McpPorts, { messageBytes }: McpLimits): Reached {
  const value = token === undefined ? undefined : env[token];
  if (token !== undefined && value === undefined)
    throw new McpFault(`The variable ${token} is not set: an MCP server needs it.`, 'terminal');
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(messageBytes),
    ...(value !== undefined && { requestInit: { headers: { Authorization: `Bearer ${value}` } } }),
  });
  return { transport, fault: () => undefined, end: async () => {} };
}

/** Where programs get their temporary files and their home. */
const HOMES = 'mcp';

function startServer(
  { command = [], env: names = [] }: McpServerOffer,
  directory: string,
  ports: McpPorts,
  limits: McpLimits,
): Reached {
  const { dataDirectory, sandbox, allowUnconfined, env } = ports;
  if (!sandbox.ok && !allowUnconfined)
    throw new McpFault(
      `MCP servers run confined, and ${sandbox.error.message}. ${sandbox.error.suggestion}`,
      'terminal',
    );
  const unset = names.find(name => env[name] === undefined);
  if (unset !== undefined) throw new McpFault(`The variable ${unset} is not set: an MCP server needs it.`, 'terminal');
  const homes = path.join(dataDirectory, HOMES);
  mkdirSync(homes, { recursive: true, mode: 0o700 });
  const home = mkdtempSync(path.join(homes, 'home-'));
  const variables = { ...harmlessEnv(home, '/tmp'), ...Object.fromEntries(names.map(name => [name, env[name] ?? ''])) };
  const root = realpathSync(directory);
  const program: InteractiveProcess = sandbox.ok
    ? sandbox.value.open({
        command,
        root,
        refused: [realpathSync(dataDirectory)],
        variables,
        home,
        limits: AGENT_LIMITS,
        readable: readableOf(command, root),
      })
    : openInGroup(command, { cwd: root, env: variables });
  let end: string | undefined;
  void program.ended.then(ended => {
    end = ended.kind === 'not started' ? `it could not be started: ${ended.reason}` : undefined;
    rmSync(home, { recursive: true, force: true });
  });
  const transport = processTransport(program, limits);
  return {
    transport,
    fault: () => end ?? transport.fault(),
    end: async () => {
      program.stdin.end();
      program.stop();
      await program.ended;
    },
  };
}

/** The files that it names outside of its directory; packages whole, since they find each other beside them. */
function readableOf(command: readonly string[], root: string): readonly string[] {
  const files = command
    .filter(one => path.isAbsolute(one) && existsSync(one))
    .map(one => realpathSync(one))
    .filter(file => statSync(file).isFile() && !file.startsWith(`${root}${path.sep}`));
  const places = files.map(file => {
    const at = file.indexOf(`${path.sep}node_modules${path.sep}`);
    return at < 0 ? file : file.slice(0, at + `${path.sep}node_modules`.length);
  });
  return [...new Set(places)];
}

async function listTools(client: Client, { tools: most, connectMs }: McpLimits): Promise<readonly Tool[]> {
  const listed: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: connectMs });
    listed.push(...page.tools);
    cursor = page.nextCursor;
    if (listed.length > most || (page.tools.length === 0 && cursor !== undefined))
      throw new Error(`it has more than ${most} tools, or a list without an end`);
  } while (cursor !== undefined);
  return listed;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function chosenTools({ allow }: McpServerOffer, listed: readonly Tool[], server: string): readonly Tool[] {
  return allow.map(name => {
    const found = listed.find(tool => tool.name === name);
    if (found === undefined) {
      const names = listed.map(tool => tool.name);
      throw new McpFault(`The MCP server ${server} has no tool "${name}".${didYouMean(name, names)}`, 'terminal');
    }
    if (!NAME.test(name))
      throw new McpFault(`The MCP server ${server} has a tool with a name that models cannot call.`, 'terminal');
    return found;
  });
}

/** Approvals and undo belong to what was offered: a server that offers something else later is another one. */
function sameAsBefore(
  file: string,
  digests: Readonly<Record<string, string>>,
  servers: readonly McpServerOffer[],
): void {
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(digests), { mode: 0o600 });
    return;
  }
  const before = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  const changed = servers.find((_, at) => before[String(at)] !== digests[String(at)]);
  if (changed === undefined) return;
  const message = `The MCP server ${nameOf(changed)} offers its tools otherwise than when this work began. Look at what changed, then retry the node.`;
  throw new McpFault(message, 'terminal');
}

function digestOf(tools: readonly Tool[]): string {
  const plain = JSON.parse(JSON.stringify(tools)) as Json;
  return createHash('sha256').update(canonicalJson(plain)).digest('hex');
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
