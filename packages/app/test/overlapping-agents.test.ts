import * as fs from 'node:fs';
import { detectSandbox, findLayers } from '@signalbox/state';
import { type EchoStep, echoPrompt } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { openEchoHome } from './support/open-echo-home.ts';
import { planText } from './support/open-host.ts';
import { until } from './support/until.ts';

const sandbox = await detectSandbox();
const hasLayers = sandbox.ok && findLayers('/tmp').ok;
const said = { rationale: 'fine', actionKind: 'review' } as const;

const edit = (who: string, file: string): EchoStep => ({
  ...{ do: 'ask', id: `${who}-${file}`, kind: 'edit', title: `${who} edits ${file}`, input: { file, who } },
  allowed: [{ do: 'write', file, text: who }],
});
const agent = (id: string, steps: readonly EchoStep[], props = '') =>
  `<Agent id="${id}" plugin="echo" cwd="work" permissions="gated" ${props} prompt={${JSON.stringify(echoPrompt(steps))}} />`;

it.skipIf(!hasLayers)(
  '[B152] agents in parallel are told which paths another one has changed, before either is applied',
  async () => {
    const { host, work, store, start, end } = await openEchoHome();
    const plan = planText(
      `<Parallel>${agent('one', [edit('one', 'shared.txt'), edit('one', 'more.txt')])}
      ${agent('two', [edit('two', 'own.txt'), edit('two', 'shared.txt')], 'apply="ask"')}</Parallel>`,
      'z.object({})',
    );
    const run = await start('plan', plan);
    const asked = (words: string) =>
      until(async () => {
        const open = await store.decisions({ run, status: ['open'] });
        return open.find(({ decision }) => JSON.stringify(decision.proposal).includes(words))?.decision;
      });
    const approve = async (words: string) =>
      host.answer((await asked(words)).id, { resolution: { ...said, resolutionType: 'approve' } }, 'ada');
    await approve('one edits shared.txt');
    // It has changed the file, and waits with its change on its layer.
    await asked('one edits more.txt');
    await approve('two edits own.txt');
    await approve('two edits shared.txt');
    const words =
      'shared.txt: node one (Echo) has changed it too, and its changes are not applied yet. Whichever is applied second waits for a person.';
    const review = await asked('Apply its 2 changes?');
    expect(review.proposal).toMatchObject({ prompt: `Echo is done. ${words} Apply its 2 changes?` });
    expect(fs.readdirSync(work)).toEqual([]);
    const drop = { ...said, resolutionType: 'choose_option', chosenOptionId: 'drop' } as const;
    await host.answer(review.id, { resolution: drop }, 'ada');
    await until(async () => {
      const two = (await store.tasks(run)).find(({ node }) => node === 'two');
      return two?.status === 'done' || two?.status === 'error' ? two : undefined;
    });
    await approve('one edits more.txt');
    await end(run);
    expect(fs.readdirSync(work).sort()).toEqual(['more.txt', 'shared.txt']);
    const tasks = await store.tasks(run);
    const notes = await Promise.all(
      tasks.map(async ({ id, node }) => {
        const kept = (await store.stream(run, id, 0, 500)).map(
          ({ payload }) => payload as { kind?: string; text?: string },
        );
        return [node, kept.flatMap(({ kind, text }) => (kind === 'note' ? [text] : []))];
      }),
    );
    expect(Object.fromEntries(notes)).toEqual({ one: [], two: [words] });
  },
);
