import * as fs from 'node:fs';
import path from 'node:path';
import type { EchoCall, EchoSetup, EchoStep } from './echo-script.ts';
import { searchForKey } from './key-search.ts';

/**
 * An agent that speaks the Agent Client Protocol and does what the script in its prompt says, well or badly. It has no model, and shares
 * no code with the client.
 */
const setup = JSON.parse(process.env.ECHO_AGENT ?? '{}') as EchoSetup;
let session = `echo-${process.pid}`;
const options = new Map((setup.options ?? []).map(option => [option.id, option.current]));
const waiting = new Map<number, (answer: Answer) => void>();
let nextId = 1;
let isAuthenticated = setup.authenticate === undefined;
let script: readonly (readonly EchoStep[])[] = setup.prompts ?? [];
let promptsSoFar = 0;
/** How many steps of its prompt are done; set when a session is continued. */
let stepsDone = 0;
let isCutOff = false;
let cancel = () => {};
let tools: ToolServer | undefined;
let areListed = false;

interface Answer {
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}
interface Incoming extends Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}
/** The prompt under way. */
interface Turn {
  readonly text: string;
  readonly id: number;
  usage?: object;
  stopReason: string;
}
interface ToolServer {
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}
class Ended extends Error {}
class Canceled extends Error {}

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (fields: object, of = session) => {
  send({ method: 'session/update', params: { sessionId: of, update: fields } });
  if (of === session && setup.continues !== undefined)
    fs.appendFileSync(`${placeOf(session)}.ndjson`, `${JSON.stringify(fields)}\n`);
};
const say = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

function request(method: string, params: object): Promise<Answer> {
  const id = nextId++;
  send({ id, method, params: { sessionId: session, ...params } });
  return new Promise(resolve => waiting.set(id, resolve));
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (read: string) => {
  const lines = (rest + read).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) received(JSON.parse(line) as Incoming);
});
process.stdin.on('end', () => process.exit(0));

function received({ id, method, params = {}, ...answer }: Incoming): void {
  if (setup.silent === true) return;
  if (method === undefined) {
    if (id !== undefined) waiting.get(id)?.(answer);
    return;
  }
  const reply = (result: object) => send({ id, result });
  switch (method) {
    case 'initialize':
      reply({
        protocolVersion: setup.protocolVersion ?? 1,
        agentCapabilities: {
          mcpCapabilities: { http: setup.noMcp !== true },
          loadSession: setup.continues?.includes('load') === true,
          ...(setup.continues?.includes('resume') === true && { sessionCapabilities: { resume: {} } }),
        },
        agentInfo: { name: 'echo', version: '1.0.0' },
        authMethods: setup.authenticate === undefined ? [] : [{ id: setup.authenticate, name: 'Echo' }],
      });
      return;
    case 'authenticate':
      isAuthenticated = params.methodId === setup.authenticate;
      reply({});
      return;
    case 'session/new':
      tools = (params.mcpServers as readonly ToolServer[])[0];
      if (!isAuthenticated) send({ id, error: { code: -32000, message: 'Authentication required' } });
      else reply({ sessionId: session, ...modesAndOptions() });
      return;
    case 'session/resume':
    case 'session/load':
      tools = (params.mcpServers as readonly ToolServer[])[0];
      if (!hasContinued(String(params.sessionId))) {
        send({ id, error: { code: -32002, message: 'No such session' } });
        return;
      }
      if (method === 'session/load') repeatSession();
      reply(modesAndOptions());
      return;
    case 'session/set_mode':
      if (setup.modes?.stays === true)
        update({ sessionUpdate: 'current_mode_update', currentModeId: setup.modes.current });
      reply({});
      return;
    case 'session/set_config_option': {
      const option = setup.options?.find(one => one.id === params.configId);
      if (option?.stays !== true) options.set(String(params.configId), String(params.value));
      reply({ configOptions: configOptions() });
      return;
    }
    case 'session/cancel':
      cancel();
      return;
    case 'session/prompt':
      void prompted(id ?? 0, params.prompt as readonly { readonly text: string }[]);
      return;
    default:
      send({ id, error: { code: -32601, message: `no method ${method}` } });
  }
}

function modesAndOptions(): object {
  return {
    ...(setup.modes && {
      modes: {
        currentModeId: setup.modes.current,
        availableModes: setup.modes.available.map(mode => ({ id: mode, name: mode })),
      },
    }),
    ...(setup.options && { configOptions: configOptions() }),
  };
}

function placeOf(id: string): string {
  return path.join(process.env.HOME ?? '', id);
}

/** Its script and how far it came: a call that was cut off is made again. */
function keepSession(): void {
  if (setup.continues === undefined) return;
  fs.writeFileSync(`${placeOf(session)}.json`, JSON.stringify({ script, promptsSoFar, stepsDone, isCutOff }));
}

function hasContinued(id: string): boolean {
  const file = `${placeOf(id)}.json`;
  if (setup.forgets === true || !fs.existsSync(file)) return false;
  session = id;
  ({ script, promptsSoFar, stepsDone, isCutOff } = JSON.parse(fs.readFileSync(file, 'utf8')));
  return true;
}

function repeatSession(): void {
  const file = `${placeOf(session)}.ndjson`;
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines)
    if (line !== '') send({ method: 'session/update', params: { sessionId: session, update: JSON.parse(line) } });
}

function configOptions(): object[] {
  return (setup.options ?? []).map(({ id, category, values }) => ({
    ...{ id, name: id, type: 'select', currentValue: options.get(id) },
    ...(category !== undefined && { category }),
    options: values.map(value => ({ value, name: value })),
  }));
}

async function prompted(id: number, blocks: readonly { readonly text: string }[]): Promise<void> {
  const text = blocks.map(block => block.text).join('\n');
  const given = /```echo\n(.*)\n```/s.exec(text)?.[1];
  if (given !== undefined) {
    script = JSON.parse(given);
    promptsSoFar = 0;
    isCutOff = false;
  }
  await listTools();
  const turn: Turn = { id, text, stopReason: 'end_turn' };
  if (isCutOff) promptsSoFar--;
  else stepsDone = 0;
  isCutOff = true;
  try {
    for (const step of (script[promptsSoFar++] ?? []).slice(stepsDone)) {
      keepSession();
      await one(step, turn);
      stepsDone++;
    }
    isCutOff = false;
  } catch (thrown) {
    if (thrown instanceof Canceled) turn.stopReason = 'cancelled';
    else if (thrown instanceof Ended) isCutOff = false;
    else throw thrown;
  }
  keepSession();
  if (turn.stopReason !== '')
    send({ id, result: { stopReason: turn.stopReason, ...(turn.usage && { usage: turn.usage }) } });
}

async function all(steps: readonly EchoStep[], turn: Turn): Promise<void> {
  for (const step of steps) await one(step, turn);
}

/** Asks for the tools of the first MCP server, as a model needs to know them. */
async function listTools(): Promise<void> {
  if (tools === undefined || setup.listsNoTools === true || areListed) return;
  areListed = true;
  // A server that cannot be reached is noticed when a tool is called.
  await toolRequest(tools, 'tools/list', {}).catch(() => undefined);
}

async function toolAnswer(name: string, input: object): Promise<string> {
  if (tools === undefined) return 'no tools were offered';
  const text = await toolRequest(tools, 'tools/call', { name, arguments: input });
  const line = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const answer = JSON.parse(line) as { readonly result?: { readonly content: readonly { readonly text: string }[] } };
  return answer.result?.content.map(part => part.text).join('') ?? line;
}

/** One request to an MCP server, without a session. */
async function toolRequest({ url, headers: own }: ToolServer, method: string, params: object): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
    ...Object.fromEntries(own.map(header => [header.name, header.value])),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return (await fetch(url, { method: 'POST', headers, body })).text();
}

/** The status of one call of the model, streamed to its end; 0 if the connection broke. */
async function modelStatus({
  key,
  model = 'claude-sonnet-5-5',
}: Extract<EchoStep, { readonly do: 'callModel' }>): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': key ?? process.env.ANTHROPIC_API_KEY ?? '',
    'anthropic-version': '2023-06-01',
  };
  const messages = [{ role: 'user', content: 'Say something.' }];
  const body = JSON.stringify({ model, max_tokens: 100, stream: true, messages });
  try {
    const answer = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  } catch {
    return 0;
  }
}

async function one(step: EchoStep, turn: Turn): Promise<void> {
  switch (step.do) {
    case 'callModel': {
      const { times = 1, atOnce = 1 } = step;
      const statuses = await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const found: number[] = [];
          for (let time = 0; time < times; time++) found.push(await modelStatus(step));
          return found;
        }),
      );
      say(statuses.flat().join(' '));
      return;
    }
    case 'callTool':
      say(await toolAnswer(step.name, step.input));
      return;
    case 'say':
    case 'think': {
      const kind = step.do === 'say' ? 'agent_message_chunk' : 'agent_thought_chunk';
      for (let time = 0; time < (step.times ?? 1); time++)
        update({ sessionUpdate: kind, content: { type: 'text', text: step.text } });
      return;
    }
    case 'plan':
      update({
        sessionUpdate: 'plan',
        entries: step.entries.map(content => ({ content, priority: 'medium', status: 'pending' })),
      });
      return;
    case 'tool':
      for (const [index, status] of step.statuses.entries())
        if (index === 0) update({ sessionUpdate: 'tool_call', ...fieldsOf(step), status });
        else update({ sessionUpdate: 'tool_call_update', toolCallId: `${step.id}-${process.pid}`, status });
      return;
    case 'ask':
      return ask(step, turn);
    case 'askAtOnce':
      await Promise.all(step.asks.map(each => ask(each, turn)));
      return;
    case 'write':
      fs.mkdirSync(path.dirname(path.resolve(step.file)), { recursive: true });
      fs.writeFileSync(step.file, step.text);
      return;
    case 'append':
      fs.appendFileSync(step.file, `${step.text}\n`);
      return;
    case 'link':
      fs.symlinkSync(step.target, step.file);
      return;
    case 'clientRead': {
      const { do: _, ...params } = step;
      const { result, error } = await request('fs/read_text_file', params);
      say(error === undefined ? `read ${JSON.stringify(result?.content)}` : `not read: ${error.code} ${error.message}`);
      return;
    }
    case 'clientWrite': {
      const { error } = await request('fs/write_text_file', { path: step.path, content: step.text });
      say(error === undefined ? 'written' : `not written: ${error.code} ${error.message}`);
      return;
    }
    case 'terminal': {
      const { do: _, kill, leave, ...params } = step;
      const { result, error } = await request('terminal/create', params);
      if (error !== undefined) say(`no terminal: ${error.code} ${error.message}. `);
      if (error !== undefined || leave === true) return;
      const { terminalId } = result as { readonly terminalId: string };
      if (kill === true) await request('terminal/kill', { terminalId });
      const exit = await request('terminal/wait_for_exit', { terminalId });
      const { output, truncated } = (await request('terminal/output', { terminalId })).result ?? {};
      await request('terminal/release', { terminalId });
      const gone = await request('terminal/output', { terminalId });
      say(JSON.stringify({ ...exit.result, output, truncated, gone: gone.error?.code }));
      return;
    }
    case 'elicit': {
      const { message, schema, url, session: of } = step;
      const mode =
        url === undefined ? { mode: 'form', requestedSchema: schema } : { mode: 'url', url, elicitationId: '1' };
      const { result, error } = await request('elicitation/create', { ...(of && { sessionId: of }), message, ...mode });
      if (result?.action === 'cancel') throw new Canceled();
      say(error === undefined ? JSON.stringify(result) : `not asked: ${error.code}. `);
      return;
    }
    case 'cost':
      update({
        sessionUpdate: 'usage_update',
        ...{ used: 1, size: 2, cost: { amount: step.amount, currency: step.currency ?? 'USD' } },
      });
      return;
    case 'tokens': {
      const { inputTokens, outputTokens } = step;
      turn.usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
      return;
    }
    case 'mode':
      update({ sessionUpdate: 'current_mode_update', currentModeId: step.mode });
      return;
    case 'option':
      options.set(step.id, step.value);
      update({ sessionUpdate: 'config_option_update', configOptions: configOptions() });
      return;
    case 'update':
      update(step.update, step.session);
      return;
    case 'variable':
      say(process.env[step.name] ?? 'not set');
      return;
    case 'search':
      say(JSON.stringify(await searchForKey(step)));
      return;
    case 'homeRead':
      say(fs.readFileSync(path.join(process.env.HOME ?? '', step.file), 'utf8'));
      return;
    case 'repeat':
      say(turn.text);
      return;
    case 'stderr':
      process.stderr.write(`${step.text}\n`);
      return;
    case 'when':
      if (process.env[step.variable] !== undefined) await all(step.steps, turn);
      return;
    case 'stop':
      turn.stopReason = step.reason;
      throw new Ended();
    case 'fail':
      send({ id: turn.id, error: { code: step.code, message: step.message } });
      turn.stopReason = '';
      throw new Ended();
    case 'line':
      process.stdout.write(`${step.line}\n`);
      return;
    case 'longLine': {
      const block = 'x'.repeat(1_000_000);
      for (let sent = 0; sent < step.bytes; sent += block.length)
        if (!process.stdout.write(block)) await new Promise(resolve => process.stdout.once('drain', resolve));
      return;
    }
    case 'answerTwice':
      send({ id: turn.id, result: { stopReason: 'end_turn' } });
      return;
    case 'hang':
      await new Promise<void>(resolve => {
        // Keeps the process alive, whatever happens to its input.
        setInterval(() => {}, 1 << 30);
        if (step.deaf !== true) cancel = resolve;
      });
      turn.stopReason = 'cancelled';
      throw new Ended();
    case 'exit':
      process.stdout.write('', () => process.exit(step.code));
      await new Promise(() => {});
      return;
    case 'ignoreTerm':
      process.on('SIGTERM', () => {});
      process.stdin.removeAllListeners('end');
      return;
  }
}

const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

async function ask(step: Extract<EchoStep, { readonly do: 'ask' }>, turn: Turn): Promise<void> {
  const fields = fieldsOf(step);
  const choices = step.options ?? OPTIONS;
  update({ sessionUpdate: 'tool_call', ...fields, status: 'pending' });
  const of = step.session === undefined ? {} : { sessionId: step.session };
  const answer = request('session/request_permission', { ...of, toolCall: fields, options: choices });
  await all(step.meanwhile ?? [], turn);
  const { result, error } = await answer;
  if (error !== undefined) say(`not asked: ${error.code}`);
  const { optionId, outcome } = (result?.outcome ?? {}) as { readonly optionId?: string; readonly outcome?: string };
  // A client that could have rejected the call has canceled the prompt.
  if (outcome === 'cancelled' && choices.some(({ kind }) => kind === 'reject_once')) throw new Canceled();
  const isAllowed = choices.find(choice => choice.optionId === optionId)?.kind.startsWith('allow') === true;
  await all((isAllowed ? step.allowed : step.denied) ?? [], turn);
  const status = isAllowed || step.regardless === true ? 'completed' : 'failed';
  update({ sessionUpdate: 'tool_call_update', toolCallId: `${step.id}-${process.pid}`, status });
}

function fieldsOf({ id, kind, title, name, input, locations, diff }: EchoCall): object {
  return {
    ...{ toolCallId: `${id}-${process.pid}`, title },
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(input !== undefined && { rawInput: input }),
    ...(locations !== undefined && { locations }),
    ...(diff !== undefined && { content: [{ type: 'diff', ...diff }] }),
  };
}
