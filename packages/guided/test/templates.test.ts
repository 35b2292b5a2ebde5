import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, JsonObject } from '@signalbox/model';
import { modePresets } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import type { GuidedTools } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, filesUnder, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

/** Files with every construct of the published format. */
const folder = new URL('../../workflow/test/walk/files/', import.meta.url);

interface FormatFile {
  readonly source: JsonObject & { readonly id: string };
  readonly routines?: readonly (JsonObject & { readonly id: string })[];
}

/** Tools that know the workflow of a file and its routines. */
function toolsWith({ source, routines = [] }: FormatFile, preferences: (typeof modePresets)[keyof typeof modePresets]) {
  const [flows, directory] = [dataDirectory(), dataDirectory()];
  writeWorkflow(flows, 'source.json', source);
  mkdirSync(path.join(flows, 'routines'));
  for (const [index, routine] of routines.entries()) {
    const id = routine.id.replace(/^wr\./, 'project.');
    writeWorkflow(path.join(flows, 'routines'), `${index}.json`, { ...routine, id });
  }
  const tools = openTools(directory, { directories: [{ kind: 'project', directory: flows }], preferences });
  return { tools, directory };
}

const fileNamed = (name: string): FormatFile => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

describe('an agent that only sends back what answers say', () => {
  it.each(readdirSync(folder))('[G113] does not get past the first step of %s, in any mode', async name => {
    const file = fileNamed(name);
    const { source } = file;
    for (const preferences of Object.values(modePresets)) {
      const { tools, directory } = toolsWith(file, preferences);
      const start = await tools.start({ workflowId: source.id });
      // Some files need a context; an agent without it is told so, and has nothing to send back.
      if (!start.ok) {
        expect(start.error.code).toBe('VALIDATION_ERROR');
        continue;
      }
      const before = filesUnder(directory);
      for (let call = 0; call < 3 && start.value.nextCall !== null; call++) {
        const sent = await tools.continue(start.value.nextCall.arguments as never);
        expect(sent.ok ? sent.value.kind : sent.error.code).toBe('VALIDATION_ERROR');
      }
      expect(filesUnder(directory)).toEqual(before);
    }
  });

  it.each(readdirSync(folder))(
    '[G121] is refused at every step of %s, also with one placeholder left, in any decoration',
    async name => {
      const file = fileNamed(name);
      const { tools, directory } = toolsWith(file, modePresets.full_auto_never_stop);
      let at = value(await tools.start({ workflowId: file.source.id, context: CONTEXTS[name] ?? {} }));
      const passed = new Set<string>();
      while (!at.isComplete) {
        const call = filledIn(at);
        const template = at.nextCall?.arguments.output as Json;
        const filled = call.output as unknown as Json;
        const before = filesUnder(directory);
        for (const [pointer, placeholder] of placeholdersOf(template)) {
          for (const kept of [placeholder, ` ${placeholder}\n`, `**${placeholder}**`, `- "${placeholder}".`]) {
            const output = replacedAt(filled, pointer, kept) as NonNullable<typeof call.output>;
            await expectRefused(tools, { ...call, output }, `output.${pointer.join('.')}`);
          }
        }
        expect(filesUnder(directory)).toEqual(before);
        passed.add(at.pending?.stepId ?? '');
        at = value(await tools.continue(call));
        expect(at.kind).toBe('ok');
      }
      const { steps = [] } = value(await tools.inspect({ workflowId: file.source.id }));
      expect(steps.map(({ stepId }) => stepId).filter(stepId => !passed.has(stepId))).toEqual([]);
    },
  );

  it('[G120] has its checkpoint refused too, and the same token stays good', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const { checkpointToken = '' } = value(await tools.start({ workflowId: 'wr.research' }));
    const before = filesUnder(directory);
    for (const notesMarkdown of ['<notes to remember>', '**<notes to remember about the unfinished step>**']) {
      expect(errorOf(await tools.checkpoint({ checkpointToken, notesMarkdown }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'notesMarkdown' },
      });
    }
    expect(filesUnder(directory)).toEqual(before);
    expect(value(await tools.checkpoint({ checkpointToken, notesMarkdown: 'Half done.' }))).toMatchObject({
      pending: { stepId: 'frame' },
    });
  });
});

async function expectRefused(tools: GuidedTools, call: Parameters<GuidedTools['continue']>[0], field: string) {
  const error = errorOf(await tools.continue(call));
  expect([error.code, error.details]).toEqual(['VALIDATION_ERROR', { field }]);
}

/** Where a template has placeholders as values, and which. */
function placeholdersOf(template: Json, at: readonly string[] = []): readonly (readonly [readonly string[], string])[] {
  if (typeof template === 'string') return /^<.*>$/s.test(template) ? [[at, template]] : [];
  if (typeof template !== 'object' || template === null) return [];
  return Object.entries(template).flatMap(([key, part]) => placeholdersOf(part as Json, [...at, key]));
}

function replacedAt(whole: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  if (Array.isArray(whole))
    return whole.map((part, index) => (`${index}` === key ? replacedAt(part, rest, value) : part));
  const parts = (whole ?? {}) as JsonObject;
  return { ...parts, [key]: replacedAt(parts[key] ?? null, rest, value) };
}

/** With these every step of a file runs. */
const CONTEXTS: Readonly<Record<string, JsonObject>> = {
  'conditions.json': {
    flag: true,
    name: 'core',
    mode: 'on',
    n: 3,
    g: 2,
    l: 1,
    le: 9,
    text: 'the core',
    path: 'src/a',
    file: 'a.ts',
    ticket: 'AB-1',
    size: 'medium',
  },
  'dotted.json': { wanted: true },
  'loops.json': { files: ['a.ts', 'b.ts'], rounds: 2, isOpen: true, isDone: false },
};
