import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportSession, type GuidedTools, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import type { ErrorEnvelope, Json, Result } from '@signalbox/model';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

const schemas = new URL('../../../../spec/schemas/', import.meta.url);
const published = (name: string) =>
  z.fromJSONSchema(JSON.parse(readFileSync(new URL(`${name}.json`, schemas), 'utf8')));

/** Samples, by the name of the schema that they must fit. */
let found: ReadonlyMap<string, readonly Json[]>;

beforeAll(async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'published-'));
  const { tokens, bundle } = await walkedIn(home);
  const lines = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').map(toJson);
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name));
  const below = (part: string) => files.filter(file => file.includes(`/${part}`));
  found = new Map([
    ['domain-event', below('events/').flatMap(lines)],
    ['manifest-record', below('manifest.jsonl').flatMap(lines)],
    ['execution-snapshot', below('snapshots/').map(file => toJson(readFileSync(file, 'utf8')))],
    ['compiled-workflow', below('workflows/pinned/').map(file => toJson(readFileSync(file, 'utf8')))],
    ['keyring', below('keys/keyring.json').map(file => toJson(readFileSync(file, 'utf8')))],
    ['bundle', [toJson(bundle)]],
    ['token-payload', tokens.map(token => toJson(Buffer.from(token.split('.')[2] ?? '', 'base64url').toString()))],
  ]);
  rmSync(home, { recursive: true });
});

/** A walk that leaves as many kinds of records as it can; answers with the tokens that were given on the way, and its bundle. */
async function walkedIn(home: string): Promise<{ readonly tokens: readonly string[]; readonly bundle: string }> {
  const tools: GuidedTools = openGuidedTools({ dataDirectory: home, directories: [], machine: thisMachine() });
  const start = value(
    await tools.start(
      {
        workflowId: 'wr.research',
        context: { topic: 'caches' },
        preferences: { autonomy: 'full_auto_never_stop' },
        workspacePath: import.meta.dirname,
      },
      'person',
    ),
  );
  const { stateToken, ackToken = '', checkpointToken = '' } = start;
  value(await tools.checkpoint({ checkpointToken, notesMarkdown: 'Half way.' }));
  const output = {
    notesMarkdown: 'Too little.',
    artifacts: [{ kind: 'note', text: 'x' }],
    needsFromUser: [{ reason: 'needs_user_choice' as const, summary: 'Which one?', choice: 'scope_boundary' as const }],
    capabilityObservations: [
      { kind: 'attempted_use' as const, capability: 'web_browsing' as const, result: 'success' as const },
    ],
    divergences: [{ reason: 'efficiency_skip' as const, summary: 'It was known.' }],
  };
  value(await tools.continue({ stateToken, ackToken, output, context: { topic: null } }));
  const { clock } = thisMachine();
  const { text } = value(exportSession({ dataDirectory: home, clock, appVersion: '1.0.0' }, start.sessionId));
  return { tokens: [stateToken, ackToken, checkpointToken], bundle: text };
}

function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function toJson(text: string): Json {
  return JSON.parse(text);
}

describe('the published schemas of guided sessions', () => {
  it.each([
    'domain-event',
    'manifest-record',
    'execution-snapshot',
    'compiled-workflow',
    'keyring',
    'bundle',
    'token-payload',
  ])('[V49] %s takes what a walk leaves, and not what lacks a field or has one more', name => {
    const schema = published(name);
    const records = found.get(name) ?? [];
    expect(records.length).toBeGreaterThan(0);
    for (const record of records) {
      expect(schema.safeParse(record).error).toBe(undefined);
      const { ...fields } = record as Record<string, Json>;
      expect(schema.safeParse({ ...fields, surplus: 1 }).success).toBe(false);
      const [first = ''] = Object.keys(fields);
      delete fields[first];
      expect(schema.safeParse(fields).success).toBe(false);
    }
  });

  it('[V49] the walk leaves events of every kind', () => {
    const kinds = new Set((found.get('domain-event') ?? []).map(event => (event as { kind: string }).kind));
    const { oneOf } = JSON.parse(readFileSync(new URL('domain-event.json', schemas), 'utf8'));
    const all = oneOf.map((each: { properties: { kind: { const: string } } }) => each.properties.kind.const);
    expect([...kinds].sort()).toEqual(all.sort());
  });
});
