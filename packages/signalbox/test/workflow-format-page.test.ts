import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkSource, openGuidedTools, trialScript, tryWorkflow } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';

const page = readFileSync(fileURLToPath(new URL('../../../docs/workflow-format.md', import.meta.url)), 'utf8');

interface Example {
  readonly heading: string;
  readonly source: { readonly id: string };
  readonly answers: unknown;
}

/** Each workflow of the page, with the answers after it. */
function examplesIn(text: string): readonly Example[] {
  return text.split(/^## /m).flatMap(section => {
    const blocks = [...section.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = '']) => JSON.parse(block));
    const heading = section.slice(0, section.indexOf('\n'));
    return blocks.flatMap((source, index) =>
      index % 2 === 0 ? [{ heading, source, answers: blocks[index + 1] as unknown }] : [],
    );
  });
}

describe('the page on the format of workflows', () => {
  const examples = examplesIn(page);

  it('[X106] has an example for each construct', () => {
    expect(examples.map(({ heading }) => heading)).toEqual([
      'A workflow and its steps',
      'Evidence',
      'Contracts',
      'Conditions',
      'Loops',
      'Loops',
      'Assessments',
      'Templates, refs and features',
      'Delegation',
      'Capabilities',
      'People, modes and gaps',
    ]);
  });

  it.each(examples)(
    '[X106] $heading: $source.id is valid without a warning, and walked by its answers',
    async example => {
      const place = mkdtempSync(path.join(tmpdir(), 'page-'));
      onTestFinished(() => rmSync(place, { recursive: true, force: true }));
      const directories = [{ kind: 'project', directory: path.join(place, 'flows') }] as const;
      mkdirSync(directories[0].directory);
      const checked = await checkSource(example.source, { directories, mode: 'strict' });
      expect(checked.ok ? checked.value.warnings : checked.error.problems).toEqual([]);
      writeFileSync(path.join(directories[0].directory, 'flow.json'), JSON.stringify(example.source));
      const tools = openGuidedTools({ dataDirectory: path.join(place, 'data'), directories, machine: thisMachine() });
      const trial = await tryWorkflow(tools, example.source.id, trialScript.parse(example.answers));
      if (!trial.ok) throw new Error(trial.error.message);
      expect(trial.value.fault).toBeUndefined();
    },
  );
});
