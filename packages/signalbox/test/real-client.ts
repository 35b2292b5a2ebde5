import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, JsonObject } from '@signalbox/model';
import { filledTemplate, type ModelReply, type ModelRequest } from '@signalbox/testkit';
import { NOTES } from '../../guided/test/support/agent-calls.ts';

/** An MCP client that people use, as they would start it. */
export interface RealClient {
  readonly id: 'claude' | 'codex' | 'gemini' | 'opencode';
  /** Its program, below the directory where npm installed it. */
  readonly program: string;
  /** Lists its MCP servers, and whether they can be reached. */
  readonly list: readonly string[];
  readonly isListed: RegExp;
  /** Does one prompt, without asking. */
  run(prompt: string, url: string): readonly string[];
  env(home: string, url: string): Readonly<Record<string, string>>;
  /** Makes it wait for a server for as long as it takes; this machine may be busy with much else. */
  wait?(project: string): void;
  /** Files of its home and of its project, by relative path. */
  files(url: string): {
    readonly home?: Readonly<Record<string, Json>>;
    readonly project?: Readonly<Record<string, Json>>;
  };
}

const codexProvider = (url: string) =>
  [
    'model="gpt-5"',
    'model_provider="scripted"',
    `model_providers.scripted={name="scripted",base_url="${url}/v1",env_key="SCRIPTED_KEY",wire_api="responses",supports_websockets=false,requires_openai_auth=false}`,
  ].flatMap(setting => ['-c', setting]);

export const realClients: readonly RealClient[] = [
  {
    id: 'claude',
    program: 'node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude',
    list: ['mcp', 'list'],
    isListed: /signalbox: .*Connected/,
    run: prompt => ['-p', prompt, '--allowedTools', 'mcp__signalbox'],
    env: (home, url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-scripted',
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
      // Its servers are there before its first turn.
      MCP_CONNECTION_NONBLOCKING: '0',
      MCP_TIMEOUT: '600000',
    }),
    // A person is asked once whether a project's servers may be started.
    files: () => ({ home: { '.claude/settings.json': { enableAllProjectMcpServers: true } } }),
  },
  {
    id: 'codex',
    program: 'node_modules/.bin/codex',
    list: ['mcp', 'list'],
    isListed: /signalbox .*enabled/,
    run: (prompt, url) => [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...codexProvider(url)],
      // It begins its first turn with the servers that are there, unless they are required.
      ...['-c', 'mcp_servers.signalbox.startup_timeout_sec=600', '-c', 'mcp_servers.signalbox.required=true', prompt],
    ],
    env: home => ({ CODEX_HOME: `${home}/.codex`, SCRIPTED_KEY: 'sk-scripted' }),
    files: () => ({}),
  },
  {
    id: 'gemini',
    program: 'node_modules/.bin/gemini',
    list: ['mcp', 'list'],
    isListed: /signalbox: .*Connected/,
    run: prompt => ['-p', prompt, '--yolo', '-m', 'gemini-2.5-flash'],
    env: (_, url) => ({
      GEMINI_API_KEY: 'scripted',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    files: () => ({
      home: {
        '.gemini/settings.json': {
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          general: { disableAutoUpdate: true },
        },
      },
    }),
  },
  {
    id: 'opencode',
    program: 'node_modules/opencode-linux-x64/bin/opencode',
    list: ['mcp', 'list'],
    isListed: /signalbox.*connected/is,
    run: prompt => ['run', '--model', 'scripted/model', prompt],
    wait(project) {
      const file = path.join(project, 'opencode.json');
      const config = JSON.parse(readFileSync(file, 'utf8'));
      config.mcp.signalbox.timeout = 600_000;
      writeFileSync(file, JSON.stringify(config));
    },
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
    }),
    files: url => ({
      home: {
        '.config/opencode/node_modules/.keep': '',
        '.config/opencode/package-lock.json': {
          packages: { '': { dependencies: { '@opencode-ai/plugin': '1.18.33' } } },
        },
        '.config/opencode/opencode.json': {
          permission: 'allow',
          provider: {
            scripted: {
              npm: '@ai-sdk/openai-compatible',
              name: 'scripted',
              options: { baseURL: `${url}/v1`, apiKey: 'sk-scripted' },
              models: { model: { name: 'model', tool_call: true } },
            },
          },
        },
      },
    }),
  },
];

/** A model that starts a workflow and then does what each answer says, as text or as structured content, whichever its client shows. */
export function walker(workflowId: string): (request: ModelRequest) => ModelReply {
  return request => {
    if (request.tools.length === 0) return { text: 'A title' };
    const results = request.since.flatMap(part => (part.kind === 'result' ? [part.text] : []));
    if (results.length === 0) return call(request, 'start_workflow', { workflowId, context: { slices: ['one'] } });
    const said = results.join('\n');
    const next = nextCallIn(said);
    if (next === undefined) return { text: said.includes('omplete') ? 'The workflow is complete.' : `Lost: ${said}` };
    return call(request, next.tool, next.input);
  };
}

/** Clients put the name of the server before the names of its tools, each in its own way; one hides them behind a search. */
function call({ tools }: ModelRequest, name: string, input: Json): ModelReply {
  const offered = tools.find(tool => tool.name.endsWith(name));
  const { name: tool, namespace } = offered ?? { name, namespace: 'mcp__signalbox' };
  return { calls: [{ tool, input, ...(namespace !== undefined && { namespace }) }] };
}

function nextCallIn(said: string): { readonly tool: string; readonly input: Json } | undefined {
  let text = said;
  // What a client shows may be in quotes, and those in quotes again.
  for (let quoted = 0; quoted < 4; quoted++) {
    const found = /(?:"nextCall":\s*\{\s*"tool":\s*"(\w+)",\s*"arguments":\s*|^(continue_workflow) )(?=\{)/m.exec(text);
    const tool = found?.[1] ?? found?.[2];
    const given = found === null ? undefined : objectAt(text, found.index + found[0].length);
    if (tool !== undefined && given !== undefined) return { tool, input: handedIn(given) };
    text = text.replaceAll(/\\(["\\n/])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return undefined;
}

function handedIn(given: JsonObject): JsonObject {
  const output = given.output as JsonObject | undefined;
  if (output === undefined) return given;
  const artifacts = ((output.artifacts ?? []) as readonly JsonObject[]).map(artifact =>
    artifact.kind === 'wr.loop_control'
      ? { kind: artifact.kind, decision: 'stop' }
      : filledTemplate(artifact, choices => choices.at(artifact.kind === 'wr.assessment' ? -1 : 0) ?? ''),
  );
  return { ...given, output: { notesMarkdown: NOTES, ...(artifacts.length > 0 && { artifacts }) } };
}

/** The JSON object that begins at a place of a text; undefined if there is none. */
function objectAt(text: string, start: number): JsonObject | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isText && char === '\\') at++;
    else if (char === '"') isText = !isText;
    else if (!isText && char === '{') depth++;
    else if (!isText && char === '}' && --depth === 0) {
      try {
        return JSON.parse(text.slice(start, at + 1)) as JsonObject;
      } catch {
        return undefined;
      }
    }
  }
  return undefined;
}
