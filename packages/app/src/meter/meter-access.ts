import type { AgentRow } from '@signalbox/adapters/agents';
import type { Json, JsonObject } from '@signalbox/model';
import type { WireName } from './wires/index.ts';

/** One real key of the user's, and where it is good. */
export interface Access {
  /** The agent's variable that holds it. */
  readonly variable: string;
  readonly real: string;
  readonly provider: string;
  readonly wire: WireName;
  /** Without the version that requests have in their path. */
  readonly upstream: string;
  readonly merged?: Readonly<Record<string, JsonObject>> | undefined;
}

/** The keys of an agent that the meter can replace. Where one's own address is not one, its key is left out. */
export function accessesOf(row: AgentRow, env: Readonly<Record<string, string | undefined>>): readonly Access[] {
  return (row.meter?.keys ?? []).flatMap(({ variable, provider, wire, address, addressVariable, merged }) => {
    const real = env[variable]?.trim();
    if (!real) return [];
    const own = addressVariable === undefined ? undefined : env[addressVariable]?.trim();
    const upstream = upstreamOf(own || address);
    return upstream === undefined ? [] : [{ variable, real, provider, wire, upstream, merged }];
  });
}

/** Vendors differ in whether an address has the version: requests always have it. */
function upstreamOf(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return undefined;
  return address.replace(/\/+$/, '').replace(/\/v\d+(?:alpha|beta)?\d*$/, '');
}

/** The variables that lead an agent to the meter, without placeholders. */
export function settingsOf(
  accesses: readonly Access[],
  settings: Readonly<Record<string, string>>,
  { url, key }: { readonly url: string; readonly key: string },
): Readonly<Record<string, string>> {
  const merged: Record<string, Json> = {};
  for (const one of accesses)
    for (const [name, value] of Object.entries(one.merged ?? {})) merged[name] = mergedJson(merged[name] ?? {}, value);
  const texts = { ...settings, ...mapped(merged, value => JSON.stringify(value)) };
  return mapped(texts, text => text.replaceAll('{url}', url).replaceAll('{key}', key));
}

function mapped<A, B>(given: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value)]));
}

function mergedJson(before: Json, added: Json): Json {
  if (Array.isArray(before) && Array.isArray(added)) return [...before, ...added];
  if (!isObject(before) || !isObject(added)) return added;
  const names = new Set([...Object.keys(before), ...Object.keys(added)]);
  return Object.fromEntries(
    [...names].map(name => {
      const [old, value] = [before[name], added[name]];
      return [name, old === undefined ? (value ?? null) : value === undefined ? old : mergedJson(old, value)];
    }),
  );
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
