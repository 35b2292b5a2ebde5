import type { Json, JsonObject } from '@signalbox/model';

/** A model's input at the beginning of a conversation. */
export interface EffectivePrompt {
  readonly system: string;
  /** The task, and additional instructions to the agent. */
  readonly user: readonly string[];
  readonly tools: readonly { readonly name: string; readonly description?: string; readonly inputSchema: Json }[];
  /** The schema that the provider was asked to follow. */
  readonly answer?: JsonObject;
}

/** The part written by the author of the plan. */
export interface AuthoredPrompt {
  readonly system?: string | undefined;
  readonly prompt: string;
  readonly permissions: 'gated' | 'skip';
  readonly maxTurns: number;
  readonly schema?: JsonObject | undefined;
}

/** The model's complete input, as one text. */
export function fullPrompt({ system, user, tools, answer }: EffectivePrompt): string {
  const parts = [
    part('system', system),
    ...(tools.length === 0 ? [] : [part('tools', tools.map(toolText).join('\n\n'))]),
    ...(answer === undefined ? [] : [part('answer', `JSON that fits this schema:\n${textOf(answer)}`)]),
    part('user', user.join('\n\n')),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The same by origin: from us, from the author, from the rules, and from earlier events. */
export function promptBlocks(effective: EffectivePrompt, authored: AuthoredPrompt): JsonObject {
  const role = authored.system?.trim() === '' ? undefined : authored.system;
  const { system, user, tools } = effective;
  const own = role !== undefined && system.endsWith(role) ? system.slice(0, -role.length).trimEnd() : system;
  return {
    system: own,
    role: role ?? null,
    mode: {
      permissions: authored.permissions,
      maxTurns: authored.maxTurns,
      tools: tools.map(({ name }) => name),
      schema: authored.schema ?? null,
    },
    task: user[0] ?? authored.prompt,
    override: user.slice(1),
  };
}

function toolText({ name, description, inputSchema }: EffectivePrompt['tools'][number]): string {
  return `${name}${description === undefined ? '' : `: ${description}`}\n${JSON.stringify(inputSchema)}`;
}

function part(name: string, content: string): string {
  return `[${name}]\n${content}`;
}

function textOf(value: Json): string {
  return JSON.stringify(value, null, 2);
}
