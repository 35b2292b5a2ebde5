import { describe, expect, it } from 'vitest';
import { contractPacks, outputTemplate, placeholdersIn } from '../../src/index.ts';
import { compile, stepOf, workflowOf } from '../compile/sources.ts';

const DIMENSION = { id: 'risk', purpose: 'How risky', levels: ['low', 'high'] };

function stepWith(more: object, whole: object = {}) {
  const compiled = compile(workflowOf([stepOf('a', more as never)], whole as never));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  const [step] = compiled.value.snapshot.steps;
  if (step === undefined) throw new Error('no step');
  return outputTemplate(compiled.value.snapshot, step);
}

describe('[W203] the template of an output', () => {
  it.each(contractPacks.map(({ contractRef }) => contractRef))('of %s decides nothing', contractRef => {
    const template = stepWith({ outputContract: { contractRef } });
    const [artifact] = template.artifacts ?? [];
    const found = placeholdersIn(artifact as never, template as never, 'it');
    const decided = JSON.stringify(artifact).match(/"(?:[^"\\]|\\.)*":(?:"(?!<)[^"]*"|\d+)/g) ?? [];
    expect(found.length).toBeGreaterThan(0);
    // Only what has one possible value is filled in.
    expect(decided.filter(each => !/^"(kind|version|schemaVersion)":/.test(each))).toEqual([]);
  });

  it("lists the choices, and the levels of the step's own assessments", () => {
    expect(stepWith({ outputContract: { contractRef: 'wr.contracts.loop_control' } }).artifacts).toEqual([
      { kind: 'wr.loop_control', decision: '<continue | stop>', summary: '<text>' },
    ]);
    const assessments = [{ id: 'ready', purpose: 'Ready?', dimensions: [DIMENSION] }];
    expect(stepWith({ assessmentRefs: ['ready'] }, { assessments }).artifacts).toEqual([
      { kind: 'wr.assessment', assessmentId: 'ready', dimensions: { risk: '<low | high>' } },
    ]);
  });

  it('is found in an answer by its path, in texts and keys, and nowhere else', () => {
    const template = { a: '<x | y>', b: { '<name>': ['<text>'] } };
    expect(placeholdersIn(template, template, 'output')).toEqual(['output.a', 'output.b.<name>', 'output.b.<name>.0']);
    expect(placeholdersIn({ a: ' <x | y> ', b: ['a <text> here'] }, template, 'output')).toEqual(['output.a']);
    expect(placeholdersIn({ a: 'x', b: { name: ['<stdin>'] } }, template, 'output')).toEqual([]);
  });

  it('[W210] is found in Markdown decoration, and not in a text that mentions it', () => {
    const template = { a: '<text>' };
    for (const a of ['**<text>**', '`<text>`', '- "<text>".', '> _<text>_']) {
      expect(placeholdersIn({ a }, template, 'output')).toEqual(['output.a']);
    }
    for (const a of ['<text> is a tag', 'the tag <text>', '<texts>', '**text**']) {
      expect(placeholdersIn({ a }, template, 'output')).toEqual([]);
    }
  });
});
