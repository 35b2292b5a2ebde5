import type { AgentRow } from './register.ts';

const ASK_GEMINI = `[[rule]]
toolName = ["run_shell_command", "write_file", "replace", "web_fetch", "google_web_search", "activate_skill", "invoke_agent"]
decision = "ask_user"
priority = 999
`;

const ASK_OPENCODE = { '*': 'ask', read: 'allow', grep: 'allow', glob: 'allow', list: 'allow', todowrite: 'allow' };

const openai = { provider: 'openai', wire: 'openai-responses', address: 'https://api.openai.com' } as const;
const chat = { provider: 'openai', wire: 'openai-chat', address: 'https://api.openai.com' } as const;
const openrouter = { provider: 'openrouter', wire: 'openai-chat', address: 'https://openrouter.ai/api' } as const;
const google = {
  provider: 'google',
  wire: 'google',
  address: 'https://generativelanguage.googleapis.com',
} as const;
const anthropic = { provider: 'anthropic', wire: 'anthropic', address: 'https://api.anthropic.com' } as const;

/** Its vendor offers models that need no key and would pass beside the meter: only providers of the user's keys are enabled. */
const opencode = (provider: string, version: string) => ({
  merged: {
    OPENCODE_CONFIG_CONTENT: {
      enabled_providers: [provider],
      provider: { [provider]: { options: { baseURL: `{url}${version}` } } },
    },
  },
});

/** Every agent that is known by name. What a row says was seen with its exact version, but for rows that are not tried. */
export const AGENT_ROWS: readonly AgentRow[] = [
  {
    id: 'claude',
    title: 'Claude Code',
    vendor: 'claude',
    package: { name: '@agentclientprotocol/claude-agent-acp', version: '0.99.1' },
    start: { kind: 'script', file: 'dist/index.js', args: [] },
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_MODEL',
      'CLAUDE_CODE_OAUTH_TOKEN',
    ],
    settings: {
      CLAUDE_CONFIG_DIR: '{home}/.claude',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
    },
    homeFiles: {
      '.claude/settings.json': JSON.stringify({
        permissions: { ask: ['Bash', 'Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch', 'Task', 'Agent'] },
      }),
    },
    endpoint: { wire: 'anthropic', settings: { ANTHROPIC_BASE_URL: '{url}', ANTHROPIC_API_KEY: '{key}' } },
    meter: {
      keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'].map(variable => ({
        ...anthropic,
        variable,
        addressVariable: 'ANTHROPIC_BASE_URL',
      })),
      settings: { ANTHROPIC_BASE_URL: '{url}' },
      limited: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '16000' },
      refusal: 402,
      subagents: {
        mark: 'x-claude-code-agent-id',
        id: 'x-claude-code-agent-id',
        parent: 'x-claude-code-parent-agent-id',
      },
    },
    asking: { kind: 'mode', mode: 'default' },
    continues: ['resume'],
    offering: 'With ENABLE_TOOL_SEARCH=false its model is shown the tools of MCP servers.',
    unasked: ['read', 'search', 'think', 'other'],
    reports: { usage: true, cost: true },
    files: 'own',
    quirks: [
      'Its own rules would run harmless commands unasked; our settings make it ask about every command.',
      'It asks its model for a title of the session, beside the turns.',
      'Its subagents use the same model address and ask about their calls, too; their tokens are in its cost only.',
    ],
    isTried: true,
  },
  {
    id: 'codex',
    title: 'Codex',
    vendor: 'codex',
    package: { name: '@agentclientprotocol/codex-acp', version: '2.6.0' },
    start: { kind: 'script', file: 'dist/index.js', args: [] },
    variables: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL'],
    settings: { CODEX_HOME: '{home}/.codex', NO_BROWSER: '1', INITIAL_AGENT_MODE: 'read-only' },
    homeFiles: { '.codex/config.toml': '' },
    endpoint: {
      wire: 'openai-responses',
      settings: {
        OPENAI_API_KEY: '{key}',
        MODEL_PROVIDER: 'endpoint',
        CODEX_CONFIG: JSON.stringify({
          model: 'gpt-5.5',
          model_provider: 'endpoint',
          model_providers: {
            endpoint: {
              name: 'endpoint',
              base_url: '{url}/v1',
              env_key: 'OPENAI_API_KEY',
              wire_api: 'responses',
              supports_websockets: false,
              requires_openai_auth: false,
            },
          },
        }),
      },
    },
    meter: {
      keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'].map(variable => ({
        ...openai,
        variable,
        addressVariable: 'OPENAI_BASE_URL',
      })),
      settings: {
        OPENAI_API_KEY: '{key}',
        MODEL_PROVIDER: 'signalbox',
        CODEX_CONFIG: JSON.stringify({
          model_provider: 'signalbox',
          model_providers: {
            signalbox: {
              name: 'signalbox',
              base_url: '{url}/v1',
              env_key: 'OPENAI_API_KEY',
              wire_api: 'responses',
              supports_websockets: false,
              requires_openai_auth: false,
            },
          },
        }),
      },
      refusal: 429,
      subagents: {
        mark: 'x-codex-parent-thread-id',
        id: 'thread-id',
        parent: 'x-codex-parent-thread-id',
        kind: 'x-openai-subagent',
      },
    },
    authenticate: 'api-key',
    asking: { kind: 'mode', mode: 'read-only' },
    continues: ['resume'],
    offering: 'Its models find the tools of MCP servers by a search.',
    unasked: ['read', 'search', 'think', 'execute'],
    reports: { usage: true, cost: false },
    files: 'own',
    quirks: [
      'Commands that it does not ask about run in its own read-only sandbox; where that cannot be set up, they fail.',
      'It ends its turn when a call is denied.',
      'A question about an edit has no arguments: its differences are those of the call.',
      'Its configuration home must not be below the temporary directory.',
      'It repeats a request five times that its model endpoint refuses with 402; 429 ends the turn.',
    ],
    isTried: true,
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    vendor: 'gemini',
    package: { name: '@google/gemini-cli', version: '0.61.0' },
    start: { kind: 'script', file: 'bundle/gemini.js', args: ['--acp'] },
    onPath: 'gemini',
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
    settings: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_NO_RELAUNCH: 'true' },
    homeFiles: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true },
      }),
      '.gemini/policies/signalbox.toml': ASK_GEMINI,
    },
    endpoint: {
      wire: 'google',
      settings: { GOOGLE_GEMINI_BASE_URL: '{url}', GEMINI_API_KEY: '{key}' },
      args: ['-m', 'gemini-2.5-flash'],
    },
    meter: {
      keys: [{ ...google, variable: 'GEMINI_API_KEY', addressVariable: 'GOOGLE_GEMINI_BASE_URL' }],
      settings: { GOOGLE_GEMINI_BASE_URL: '{url}' },
      refusal: 402,
      beside: 'With GOOGLE_API_KEY alone, for Vertex AI, its calls pass beside the meter.',
    },
    asking: { kind: 'mode', mode: 'default' },
    continues: [],
    offering:
      'It takes MCP servers only in a directory that it trusts; GEMINI_CLI_TRUST_WORKSPACE=true says that it may.',
    unasked: ['read', 'search', 'think', 'execute'],
    reports: { usage: false, cost: false },
    files: 'own',
    quirks: [
      'It runs commands unasked that it knows to be harmless, such as ls.',
      'Its questions have no arguments: only a title, differences and paths.',
      'It reports a command that failed as completed; its output says how it ended.',
      'It would start itself a second time, for a larger heap; we keep it from that.',
      'It reports tokens outside the protocol.',
      'It says that it can load sessions, and fails to; a turn that was cut off is told to a new session.',
    ],
    isTried: true,
  },
  {
    id: 'opencode',
    title: 'opencode',
    vendor: 'any',
    package: { name: 'opencode-ai', version: '1.18.33' },
    start: { kind: 'bin', file: '../opencode-linux-x64/bin/opencode', args: ['acp'] },
    onPath: 'opencode',
    variables: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    settings: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_PERMISSION: JSON.stringify(ASK_OPENCODE),
      OPENCODE_SERVER_PASSWORD: '{secret}',
    },
    homeFiles: {
      '.config/opencode/node_modules/.keep': '',
      '.config/opencode/package-lock.json': JSON.stringify({
        packages: { '': { dependencies: { '@opencode-ai/plugin': '1.18.33' } } },
      }),
    },
    endpoint: {
      wire: 'openai-chat',
      settings: {
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          model: 'endpoint/model',
          small_model: 'endpoint/model',
          provider: {
            endpoint: {
              npm: '@ai-sdk/openai-compatible',
              name: 'endpoint',
              options: { baseURL: '{url}/v1', apiKey: '{key}' },
              models: { model: { name: 'model', tool_call: true } },
            },
          },
        }),
      },
    },
    meter: {
      keys: [
        {
          ...anthropic,
          ...opencode('anthropic', '/v1'),
          variable: 'ANTHROPIC_API_KEY',
          addressVariable: 'ANTHROPIC_BASE_URL',
        },
        { ...openai, ...opencode('openai', '/v1'), variable: 'OPENAI_API_KEY', addressVariable: 'OPENAI_BASE_URL' },
        {
          ...google,
          ...opencode('google', '/v1beta'),
          variable: 'GEMINI_API_KEY',
          addressVariable: 'GOOGLE_GEMINI_BASE_URL',
        },
        { ...openrouter, ...opencode('openrouter', '/v1'), variable: 'OPENROUTER_API_KEY' },
      ],
      settings: {},
      refusal: 402,
    },
    asking: { kind: 'settings' },
    continues: ['resume'],
    offering: 'Its model is shown the tools of the MCP servers of its session.',
    unasked: ['read', 'search', 'think'],
    reports: { usage: true, cost: false },
    files: 'client',
    quirks: [
      'By itself it asks nobody; our settings make it ask, and keep the settings of the directory out.',
      'It would install a package for plugins at every start; our files make it believe that it has.',
      'It listens on a loopback port (4096, or any other if that is taken); each process has a password of its own there.',
      'It writes files through the client.',
      'It reports a command that failed as completed; its output says how it ended.',
      'It reports the tokens of its last model call only.',
      'Its lock has a program for Linux on x64 only.',
    ],
    isTried: true,
  },
  {
    id: 'goose',
    title: 'goose',
    vendor: 'any',
    package: { name: '@aaif/goose', version: '0.20.1' },
    start: { kind: 'bin', file: 'goose', args: ['acp', '--with-builtin', 'developer'] },
    variables: [
      'GOOSE_PROVIDER',
      'GOOSE_MODEL',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'OPENAI_HOST',
      'ANTHROPIC_HOST',
      'GOOGLE_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    settings: { GOOSE_MODE: 'approve', GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_ENABLED: 'false' },
    homeFiles: {},
    endpoint: {
      wire: 'openai-chat',
      settings: { GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o', OPENAI_HOST: '{url}', OPENAI_API_KEY: '{key}' },
    },
    meter: {
      keys: [
        { ...chat, variable: 'OPENAI_API_KEY', addressVariable: 'OPENAI_HOST' },
        { ...anthropic, variable: 'ANTHROPIC_API_KEY', addressVariable: 'ANTHROPIC_HOST' },
        { ...google, variable: 'GOOGLE_API_KEY', addressVariable: 'GOOGLE_HOST' },
        { ...openrouter, variable: 'OPENROUTER_API_KEY', addressVariable: 'OPENROUTER_HOST' },
      ],
      settings: { OPENAI_HOST: '{url}', ANTHROPIC_HOST: '{url}', GOOGLE_HOST: '{url}', OPENROUTER_HOST: '{url}' },
      refusal: 402,
    },
    asking: { kind: 'mode', mode: 'approve' },
    continues: ['load'],
    offering: 'Its model is shown the tools of the MCP servers of its session.',
    unasked: ['think'],
    reports: { usage: true, cost: false },
    files: 'client',
    quirks: [
      'By itself it asks nobody; in mode approve it asks about every call, reads too.',
      'It does not say of which kind a call is.',
      'A session that it loads lacks the call that was cut off; it makes the call again when it is prompted.',
      'It writes files through the client.',
      'It reports the tokens of its last model call only.',
      'It asks its model for titles of the session and of calls, beside the turns.',
      'Its lock has a program for Linux on x64 only.',
    ],
    isTried: true,
  },
  {
    id: 'copilot',
    title: 'GitHub Copilot CLI',
    vendor: 'any',
    package: { name: '@github/copilot', version: '1.0.102' },
    start: { kind: 'script', file: 'npm-loader.js', args: ['--acp', '--no-auto-update'] },
    variables: [
      'COPILOT_GITHUB_TOKEN',
      'GH_TOKEN',
      'GITHUB_TOKEN',
      'COPILOT_MODEL',
      'COPILOT_PROVIDER_API_KEY',
      'COPILOT_PROVIDER_BASE_URL',
    ],
    settings: { COPILOT_AUTO_UPDATE: 'false' },
    homeFiles: {},
    endpoint: {
      wire: 'openai-chat',
      settings: {
        COPILOT_PROVIDER_BASE_URL: '{url}/v1',
        COPILOT_PROVIDER_API_KEY: '{key}',
        COPILOT_MODEL: 'model',
        COPILOT_OFFLINE: 'true',
      },
    },
    meter: {
      keys: [{ ...chat, variable: 'COPILOT_PROVIDER_API_KEY', addressVariable: 'COPILOT_PROVIDER_BASE_URL' }],
      settings: { COPILOT_PROVIDER_BASE_URL: '{url}/v1', COPILOT_OFFLINE: 'true' },
      refusal: 402,
      beside: "With a login to GitHub its calls go to GitHub's own address, beside the meter.",
    },
    asking: { kind: 'option', option: 'allow_all', value: 'off' },
    continues: ['load'],
    offering: 'Its model is shown the tools of the MCP servers of its session.',
    unasked: ['read', 'search', 'think'],
    reports: { usage: true, cost: false },
    files: 'own',
    quirks: [
      'In mode autopilot it allows itself everything.',
      'It reports a command that failed as completed; its output says how it ended.',
      'Its answer begins with notes of its own, such as the files that it made.',
      'It needs a login, unless it is given a model endpoint of its own.',
    ],
    isTried: true,
  },
  {
    id: 'qwen',
    title: 'Qwen Code',
    vendor: 'any',
    package: { name: '@qwen-code/qwen-code', version: '0.24.4' },
    start: { kind: 'script', file: 'cli-entry.js', args: ['--acp'] },
    onPath: 'qwen',
    variables: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL', 'DASHSCOPE_API_KEY'],
    settings: {},
    homeFiles: {},
    meter: {
      keys: [{ ...chat, variable: 'OPENAI_API_KEY', addressVariable: 'OPENAI_BASE_URL' }],
      settings: { OPENAI_BASE_URL: '{url}/v1' },
      refusal: 402,
      beside: 'With DASHSCOPE_API_KEY its calls pass beside the meter.',
    },
    asking: { kind: 'mode', mode: 'default' },
    unasked: ['read', 'search', 'think'],
    reports: { usage: false, cost: false },
    files: 'own',
    quirks: ['Not tried here.'],
    isTried: false,
  },
];
