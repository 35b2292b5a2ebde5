import * as fs from 'node:fs';
import path from 'node:path';
import { detectSandbox } from '@signalbox/state';
import { expect, it } from 'vitest';
import { SHOW_AGENT_PLAN, showReadme, writeShowAgent } from '../src/demo/show/show-agent.ts';
import { openTestHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const sandbox = await detectSandbox();

it.skipIf(!sandbox.ok)(
  '[A880] the agent of the demo thinks, plans, shows a diff and asks with its own options',
  async () => {
    const folder = temporaryFolder();
    writeShowAgent(path.join(folder, 'data'));
    for (const [name, content] of Object.entries(showReadme)) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), content);
    }
    const { host, store, start, end } = await openTestHome(folder, { env: {}, resumeOnAnswer: true });
    const run = await start('tidy-readme', SHOW_AGENT_PLAN);
    const asked = await until(async () => (await store.decisions({ run, status: ['open'] }))[0]?.decision);
    expect(asked.proposal).toMatchObject({
      title: 'Edit README.md',
      options: [
        { id: 'once', label: 'Make this edit' },
        { id: 'keep', label: 'Leave the README as it is' },
      ],
    });
    expect(JSON.stringify(asked.proposal)).toContain('# Shop');
    const once = {
      resolutionType: 'choose_option',
      chosenOptionId: 'once',
      rationale: '',
      actionKind: 'review',
    } as const;
    await host.answer(asked.id, { resolution: once }, 'ada');
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(fs.readFileSync(path.join(folder, 'shop/README.md'), 'utf8')).toContain('# Shop');
    const [task] = await store.tasks(run);
    const kept = (await store.stream(run, task?.id as never, 0, 500)).map(({ payload }) => JSON.stringify(payload));
    for (const part of ['"reasoning"', '"plan"', 'Give it a heading', 'Read README.md'])
      expect(
        kept.some(one => one.includes(part)),
        part,
      ).toBe(true);
  },
);
