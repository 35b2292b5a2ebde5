import { isJsonObject, type Json, type JsonObject, kindWords, type ToolKind } from '@signalbox/model';

/**
 * Names of tools by kind, as their parts: `run_shell_command`, `RunShellCommand` and `shell.run` have the same ones. The first row that
 * names a part decides, so rows go from the riskier kind to the safer one.
 */
const kindParts: readonly (readonly [ToolKind, readonly string[]])[] = [
  [
    'execute',
    [
      'bash',
      'shell',
      'exec',
      'execute',
      'command',
      'terminal',
      'run',
      'powershell',
      'process',
      'script',
      'eval',
      'kill',
      'deploy',
      'publish',
      'release',
    ],
  ],
  ['delete', ['delete', 'remove', 'rm', 'unlink', 'rmdir', 'destroy', 'drop', 'trash']],
  ['move', ['move', 'mv', 'rename']],
  [
    'edit',
    [
      'write',
      'edit',
      'multiedit',
      'patch',
      'replace',
      'create',
      'insert',
      'update',
      'append',
      'save',
      'mkdir',
      'modify',
      'put',
      'set',
    ],
  ],
  [
    'fetch',
    [
      'fetch',
      'http',
      'https',
      'curl',
      'web',
      'webfetch',
      'websearch',
      'browser',
      'browse',
      'download',
      'url',
      'navigate',
    ],
  ],
  ['search', ['search', 'grep', 'find', 'glob', 'rg', 'query', 'lookup']],
  ['read', ['read', 'view', 'cat', 'open', 'list', 'ls', 'get', 'show', 'stat', 'head', 'tail', 'analyze', 'inspect']],
];

/** Commands that do more than execute. */
const commandWords: readonly (readonly [string, RegExp])[] = [
  [
    'delete',
    /(^|[\s;&|(`/])(rm|rmdir|unlink|shred|truncate|del)(\s|$)|\bgit\s+(clean|rm|push\s+.*--delete|branch\s+-D)\b|\s-delete\b|\bdrop\s+(table|database)\b/i,
  ],
  [
    'deploy',
    /\b(deploy|publish|release|rollout)\b|\b(kubectl|helm|terraform|pulumi)\s+(apply|install|upgrade|up|destroy)\b|\bgit\s+push\b|\bdocker\s+push\b/i,
  ],
];

/** A tool call as rules see it. */
export interface ToolCallFacts {
  readonly toolName: string;
  readonly toolArgs: JsonObject;
  /** What the agent's protocol says it is, if it says so. */
  readonly kind?: ToolKind;
}

/** The kind of a tool: what the agent says, or what its name says; undefined if neither does. */
export function toolKindOf({ toolName, kind }: Pick<ToolCallFacts, 'toolName' | 'kind'>): ToolKind | undefined {
  if (kind !== undefined) return kind;
  const parts = nameParts(toolName);
  return kindParts.find(([, known]) => parts.some(part => known.includes(part)))?.[0];
}

/** Every word that rules may name this call by; empty if nobody knows what it does. */
export function toolWords(call: ToolCallFacts): ReadonlySet<string> {
  const kind = toolKindOf(call);
  const words = new Set(kind === undefined ? [] : kindWords[kind]);
  const parts = nameParts(call.toolName);
  if (parts.some(part => ['deploy', 'publish', 'release'].includes(part))) words.add('deploy');
  if (kind === 'execute') {
    const command = textsIn(call.toolArgs).join('\n');
    for (const [word, pattern] of commandWords) if (pattern.test(command)) words.add(word);
  }
  return words;
}

/** The parts of a name, at separators and at capitals, in lower case. */
function nameParts(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(part => part !== '');
}

/** Longer arguments are looked at up to here: a pattern must not take its time from everybody. */
const ARGUMENT_MAX = 20_000;

function textsIn(value: Json, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value.slice(0, ARGUMENT_MAX)];
  if (depth > 5) return [];
  if (Array.isArray(value))
    return [
      value.filter(item => typeof item === 'string').join(' '),
      ...value.flatMap(item => textsIn(item, depth + 1)),
    ];
  return isJsonObject(value) ? Object.values(value).flatMap(item => textsIn(item, depth + 1)) : [];
}
