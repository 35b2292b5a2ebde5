import path from 'node:path';

/** How a client starts the program, or where it finds the server. The token is named by its variable, never written. */
export type McpTarget =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'http'; readonly url: string; readonly tokenVariable: string };

export interface McpClient {
  readonly title: string;
  /** Its documented configuration file. */
  file(places: { readonly home: string; readonly project: string }): string;
  readonly format: 'json' | 'toml';
  /** The member of the file that holds servers by name. */
  readonly member: string;
  /** The entry of a server; undefined if the client cannot do that. */
  entry(target: McpTarget): Readonly<Record<string, unknown>> | undefined;
}

const bearer = (variable: string) => ({ Authorization: `Bearer ${variable}` });
const stdio = ({ command, args }: Extract<McpTarget, { kind: 'stdio' }>) => ({ command, args: [...args] });

/** Some clients wait only seconds for a server to start; npx may have to fetch the program first. */
const START_MS = 60_000;

/** One row a client: a new one does not compile until it is whole. */
export const mcpClients = {
  claude: {
    title: 'Claude Code',
    file: ({ project }) => path.join(project, '.mcp.json'),
    format: 'json',
    member: 'mcpServers',
    entry: target =>
      target.kind === 'stdio'
        ? { type: 'stdio', ...stdio(target) }
        : { type: 'http', url: target.url, headers: bearer(`\${${target.tokenVariable}}`) },
  },
  cursor: {
    title: 'Cursor',
    file: ({ project }) => path.join(project, '.cursor', 'mcp.json'),
    format: 'json',
    member: 'mcpServers',
    entry: target =>
      target.kind === 'stdio' ? stdio(target) : { url: target.url, headers: bearer(`\${env:${target.tokenVariable}}`) },
  },
  vscode: {
    title: 'VS Code',
    file: ({ project }) => path.join(project, '.vscode', 'mcp.json'),
    format: 'json',
    member: 'servers',
    entry: target =>
      target.kind === 'stdio'
        ? { type: 'stdio', ...stdio(target) }
        : { type: 'http', url: target.url, headers: bearer(`\${env:${target.tokenVariable}}`) },
  },
  codex: {
    title: 'Codex',
    file: ({ home }) => path.join(home, '.codex', 'config.toml'),
    format: 'toml',
    member: 'mcp_servers',
    entry: target =>
      target.kind === 'stdio'
        ? { ...stdio(target), startup_timeout_sec: START_MS / 1_000 }
        : { url: target.url, bearer_token_env_var: target.tokenVariable },
  },
  gemini: {
    title: 'Gemini CLI',
    file: ({ project }) => path.join(project, '.gemini', 'settings.json'),
    format: 'json',
    member: 'mcpServers',
    entry: target =>
      target.kind === 'stdio' ? stdio(target) : { httpUrl: target.url, headers: bearer(`$${target.tokenVariable}`) },
  },
  opencode: {
    title: 'opencode',
    file: ({ project }) => path.join(project, 'opencode.json'),
    format: 'json',
    member: 'mcp',
    entry: target =>
      target.kind === 'stdio'
        ? { type: 'local', command: [target.command, ...target.args], enabled: true, timeout: START_MS }
        : { type: 'remote', url: target.url, headers: bearer(`{env:${target.tokenVariable}}`), enabled: true },
  },
  // Zed reads no variables in headers, so a token would have to be written into its file.
  zed: {
    title: 'Zed',
    file: ({ home }) => path.join(home, '.config', 'zed', 'settings.json'),
    format: 'json',
    member: 'context_servers',
    entry: target => (target.kind === 'stdio' ? { ...stdio(target), env: {} } : undefined),
  },
  windsurf: {
    title: 'Windsurf',
    file: ({ home }) => path.join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    format: 'json',
    member: 'mcpServers',
    entry: target =>
      target.kind === 'stdio'
        ? stdio(target)
        : { serverUrl: target.url, headers: bearer(`\${env:${target.tokenVariable}}`) },
  },
} as const satisfies Readonly<Record<string, McpClient>>;

export type McpClientName = keyof typeof mcpClients;
