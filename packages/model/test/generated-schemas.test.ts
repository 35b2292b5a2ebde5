import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { generatedSchemas } from '../../../scripts/generated-schemas.ts';
import {
  artifactSample,
  edgeSample,
  eventSamples,
  handoffSample,
  messageSample,
  nodeSample,
  runSample,
  toolSample,
} from './contract-samples.ts';
import { fleetRecords } from './fleet-records.ts';
import { openObjects, refusal, requiredFields } from './refusal.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const committed = path.join(root, 'spec/schemas');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'schemas-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs the generator in the repository and gives its exit code and what it wrote to standard error. */
function generate(...options: readonly string[]): {
  readonly code: number | null;
  readonly problems: readonly string[];
} {
  const run = spawnSync(process.execPath, ['scripts/generate.ts', ...options], { cwd: root, encoding: 'utf8' });
  const lines = run.stderr.split('\n').filter(line => line !== '');
  return { code: run.status, problems: lines.map(line => line.replace(path.relative(root, folder), 'FOLDER')) };
}

function filesOf(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory).sort();
  return Object.fromEntries(names.map(name => [name, readFileSync(path.join(directory, name), 'utf8')]));
}

const ok = { code: 0, problems: [] };

describe('generating', () => {
  it('[M49] twice gives the same bytes, and those that are committed', () => {
    const outcomes = ['first', 'second'].map(name => generate('--out', path.join(folder, name)));
    const first = filesOf(path.join(folder, 'first'));
    expect(outcomes).toEqual([ok, ok]);
    expect(filesOf(path.join(folder, 'second'))).toEqual(first);
    expect(filesOf(committed)).toEqual(first);
  });

  it('[M49] writes a file per name, with sorted keys, no time and a final newline', () => {
    expect(generate('--out', folder)).toEqual(ok);
    const files = filesOf(folder);
    expect(Object.keys(files)).toEqual(
      Object.keys(generatedSchemas)
        .map(name => `${name}.json`)
        .sort(),
    );
    for (const [name, text] of Object.entries(files)) {
      const schema = JSON.parse(text);
      expect(`${JSON.stringify(schema, null, 2)}\n`).toBe(text);
      expect([name, unsortedKeys(schema)]).toEqual([name, []]);
      expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
      expect(text).not.toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d/);
    }
  });

  it('[M49] again mends every file and takes away what is no longer generated', () => {
    generate('--out', folder);
    const before = filesOf(folder);
    writeFileSync(path.join(folder, 'old.json'), before['edge.json'] ?? '');
    writeFileSync(path.join(folder, 'run.json'), '{}');
    rmSync(path.join(folder, 'node.json'));
    expect(generate('--out', folder)).toEqual(ok);
    expect(filesOf(folder)).toEqual(before);
  });

  it('[M49] deletes nothing that it did not write', () => {
    writeFileSync(path.join(folder, 'package.json'), '{}');
    mkdirSync(path.join(folder, 'src'));
    expect(generate('--out', folder)).toEqual({
      code: 1,
      problems: ['FOLDER holds files that were not generated: package.json. Move them and try again.'],
    });
    expect(readdirSync(folder).sort()).toEqual(['package.json', 'src']);
  });
});

describe('checking', () => {
  it('[M50] finds what is committed current', () => {
    expect(generate('--check')).toEqual(ok);
  });

  it('[M50] names each stale, missing and surplus file, and changes none', () => {
    generate('--out', folder);
    const edited = `${readFileSync(path.join(folder, 'run.json'), 'utf8')} `;
    writeFileSync(path.join(folder, 'run.json'), edited);
    writeFileSync(path.join(folder, 'old.json'), '{}');
    rmSync(path.join(folder, 'node.json'));
    const before = filesOf(folder);
    expect(generate('--check', '--out', folder)).toEqual({
      code: 1,
      problems: [
        'The generated schemas in FOLDER are not current:',
        '  missing: node.json',
        '  stale: run.json',
        '  surplus: old.json',
        '`npm run generate` mends it.',
      ],
    });
    expect(filesOf(folder)).toEqual(before);
  });

  it('[M50] of a folder that is not there names every file', () => {
    const { code, problems } = generate('--check', '--out', path.join(folder, 'none'));
    const missing = Object.keys(generatedSchemas).map(name => `  missing: ${name}.json`);
    expect({ code, problems: problems.slice(1, -1) }).toEqual({ code: 1, problems: missing.sort() });
  });
});

describe('a generated schema', () => {
  const error = { code: 'VALIDATION_ERROR', message: 'm', retry: { kind: 'not_retryable' }, suggestion: 's' };
  const samples: readonly (readonly [name: string, sample: object])[] = [
    ['approval-resolution', { status: 'denied' }],
    ['approval-resolution', { status: 'modified', modifiedArgs: { a: 1 } }],
    ['artifact', artifactSample],
    ['edge', edgeSample],
    ['error-envelope', { ...error, details: { a: 1 } }],
    ['handoff', handoffSample],
    ['message', messageSample],
    ['node', nodeSample],
    ['run', runSample],
    ['tool-call', toolSample],
    ['tool-result', { ok: true, output: { a: 1 } }],
    ...Object.values(eventSamples).map(sample => ['run-event', sample] as const),
    ...fleetRecords.map(({ file, sample }) => [file, sample] as const),
  ];

  it.each(samples)('[M51] %s: accepts and refuses what its source does', (name, sample) => {
    const source = generatedSchemas[name] ?? z.never();
    const generated = z.fromJSONSchema(JSON.parse(readFileSync(path.join(committed, `${name}.json`), 'utf8')));
    const seen = (schema: z.ZodType) => ({
      accepted: refusal(schema, sample),
      required: requiredFields(schema, sample),
      open: openObjects(schema, sample),
    });
    expect(seen(generated)).toEqual(seen(source));
    expect(refusal(source, sample)).toEqual([]);
  });

  it('[M51] is there for every record of the contract', () => {
    expect(Object.keys(generatedSchemas)).toEqual(expect.arrayContaining([...new Set(samples.map(([name]) => name))]));
  });
});

/** The paths of objects whose keys are not in order. */
function unsortedKeys(value: unknown, at = '$'): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.keys(value);
  const below = Object.entries(value).flatMap(([key, part]) => unsortedKeys(part, `${at}.${key}`));
  return Array.isArray(value) || keys.join() === keys.toSorted().join() ? below : [at, ...below];
}
