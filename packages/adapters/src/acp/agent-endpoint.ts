import type { AgentRow } from './register.ts';

export interface ModelEndpoint {
  /** Without a path. */
  readonly url: string;
  readonly key: string;
}

/** The row of an agent that uses a model endpoint of one's own; undefined if it cannot be given one. */
export function withEndpoint(row: AgentRow, { url, key }: ModelEndpoint): AgentRow | undefined {
  const { endpoint } = row;
  if (endpoint === undefined) return undefined;
  const filled = (text: string) => text.replaceAll('{url}', url).replaceAll('{key}', key);
  const all = (texts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text)]));
  return {
    ...row,
    start: { ...row.start, args: [...row.start.args, ...(endpoint.args ?? []).map(filled)] },
    settings: { ...row.settings, ...all(endpoint.settings) },
    homeFiles: { ...row.homeFiles, ...all(endpoint.homeFiles) },
  };
}
