import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId, RunId } from '@signalbox/model';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, openLivePage, untilNews, untilSummary } from './live-page.ts';

// The tasks of a day, each with the clicks that it takes from the page where it begins.

const BEFORE = '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n';

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  at = await openLivePage();
  ({ live, page, complaints } = at);
});
afterAll(() => at?.close());

const PATIENCE = { timeout: 60_000 };
const changes = () => path.join(live.project, 'CHANGES.md');
const open = (place: string) => page.goto(`${live.url}${place}#token=${live.token}`);
const node = (id: string) => page.locator(`[data-node="${id}"]`);
/** Until the plan asks its own question: then the agent is done. */
const untilRollout = (run: RunId) =>
  untilNews(live.client, run, news => {
    const asked = news.kind === 'decisions' ? news.decisions : news.kind === 'state' ? news.snapshot.decisions : [];
    return asked.some(({ decision }) => decision.node === 'rollout');
  });
const transcript = () => page.getByRole('region', { name: 'Transcript' });
const call = (name: string) => transcript().getByRole('article', { name, exact: true });

/** A run of the release plan whose agent asks before it writes. */
async function asking(input: { readonly broken?: string } = {}): Promise<{ run: RunId; decision: ApprovalId }> {
  writeFileSync(changes(), BEFORE);
  const { id: run } = given(
    await live.client.start({ file: live.plan('release'), input: { project: live.project, checks: 1, ...input } }),
  );
  await untilSummary(live.client, run, ({ openDecisions }) => openDecisions === 1);
  const { approvals } = given(await live.client.decisions({ run, status: 'open' }));
  return { run, decision: approvals[0]?.approvalId as ApprovalId };
}

/** Counts the clicks of what follows. */
async function clicks(act: () => Promise<void>): Promise<number> {
  await page.evaluate(`window.clicks = 0;
    window.counting ??= addEventListener('click', event => { if (event.isTrusted) window.clicks += 1; }, true) ?? true;`);
  await act();
  return page.evaluate('window.clicks');
}

/** A run without a workspace has no diff of one, which the server answers with 404. */
const unexpected = () => complaints.filter(text => !text.includes('404 (Not Found)'));

describe('watching an agent', () => {
  it('[K143] takes one click: its transcript is the tab of its node, with Markdown rendered and thinking folded', async () => {
    const { run, decision } = await asking();
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    const taken = await clicks(async () => {
      await node('changelog').click();
      await transcript().getByText('I look at the change log as it is.').waitFor();
    });
    expect(taken).toBe(1);
    const thought = transcript().getByText('First I look at what is there.', { exact: true });
    expect(await transcript().locator('details p').isVisible()).toBe(false);
    await transcript().getByText('Thought').click();
    await thought.last().waitFor();
    given(await live.client.resolve(decision, { status: 'approved' }));
    // It goes on to say what it did, live.
    await transcript().locator('strong').getByText('2.4.0').waitFor();
    expect(unexpected()).toEqual([]);
  });

  it('[K143] without a selected agent its tab shows the one that needs a person', async () => {
    const { run } = await asking();
    await open(`/runs/${run}?tab=transcript`);
    await call('Edit CHANGES.md').waitFor();
    await page.getByText('needs you').first().waitFor();
  });

  it('[K144] [K145] a call is a card in words, and one that waits has its question and its buttons in place', async () => {
    const { run } = await asking();
    await open(`/runs/${run}?node=changelog`);
    await call('Read CHANGES.md')
      .getByText(/^succeeded · \d+ m?s$/)
      .waitFor();
    await call('Read CHANGES.md').getByText('The export keeps its order.').waitFor();
    const edit = call('Edit CHANGES.md');
    await edit.getByText('waits for an answer').waitFor();
    await edit.getByLabel('Proposed').getByText('The export is twice as fast.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const taken = await clicks(() => edit.getByRole('button', { name: 'Approve' }).click());
    expect(taken).toBe(1);
    await edit.getByRole('figure', { name: 'Change of CHANGES.md' }).getByText('+- Runs can be searched.').waitFor();
    expect(readFileSync(changes(), 'utf8')).toContain('2.4.0');
  });

  it('[K149] [V361] text for its next turn is queued, and told when it goes on', async () => {
    const { run, decision } = await asking();
    await open(`/runs/${run}?node=changelog`);
    await page.getByLabel('Message for the next turn').fill('Mention **nothing** else.');
    await page.keyboard.press('Enter');
    await transcript().getByText('Mention **nothing** else.').waitFor();
    await transcript().getByText('queued for the next turn').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const over = untilRollout(run);
    given(await live.client.resolve(decision, { status: 'approved' }));
    await over;
    await transcript().getByText('queued for the next turn').waitFor({ state: 'detached' });
    const { tasks } = given(await live.client.tasks(run, { node: 'changelog' }));
    const { chunks } = given(await live.client.stream(run, tasks[0]?.id ?? '', { limit: 1000 }));
    const kinds = chunks.flatMap(({ payload }) => (payload as { readonly kind?: string } | null)?.kind ?? []);
    // The agent was told once, after the call that waited and before its next answer.
    expect(kinds.filter(kind => ['person', 'tool_ended', 'heard', 'assistant'].includes(kind)).slice(-4)).toEqual([
      ...['person', 'tool_ended', 'heard', 'assistant'],
    ]);
    const late = await live.client.chat(run, { node: 'changelog', text: 'Too late.' });
    expect(!late.ok && late.error.code).toBe('run/no-effect');
  });

  it('[K146] each turn has its tokens and its cost', async () => {
    const { run } = await asking();
    await open(`/runs/${run}?node=changelog`);
    await transcript()
      .getByText(/^Turn 1 · 1\.8 k in, 62 out tokens · \$0\.00 · \d+/)
      .waitFor();
    await transcript()
      .getByText(/^Turn 2 · 2\.2 k in, 148 out tokens/)
      .waitFor();
  });

  it('[K147] a call is undone with three clicks, after its change was shown; it is forked from its card', async () => {
    const { run, decision } = await asking();
    given(await live.client.resolve(decision, { status: 'approved' }));
    await untilRollout(run);
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    expect(readFileSync(changes(), 'utf8')).not.toBe(BEFORE);
    const taken = await clicks(async () => {
      await node('changelog').click();
      await call('Edit CHANGES.md').getByRole('button', { name: 'Undo…' }).click();
      await page
        .getByRole('dialog')
        .getByRole('region', { name: 'CHANGES.md' })
        .getByText(/2\.4\.0/)
        .waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
      await call('Edit CHANGES.md')
        .getByText(/^undone/)
        .waitFor();
    });
    expect(taken).toBe(3);
    expect(readFileSync(changes(), 'utf8')).toBe(BEFORE);
    await call('Edit CHANGES.md').getByRole('button', { name: 'Fork here…' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Fork before edit_file' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });
});

describe('a decision', () => {
  it('[K150] [K151] shows what would happen and what it cost; it is approved with one click', async () => {
    const { run, decision } = await asking();
    await open(`/queue?decision=${decision}`);
    const desk = page.getByRole('article');
    await desk.getByText('Makes this change, then Write the change log continues.').waitFor();
    await desk.getByText("The call isn't made: Write the change log is told that it was denied").waitFor();
    await desk.getByText(/4\.3 k tokens/).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const taken = await clicks(() => desk.getByRole('button', { name: 'Approve' }).click());
    expect(taken).toBe(1);
    await untilRollout(run);
    expect(readFileSync(changes(), 'utf8')).toContain('2.4.0');
    // The plan's own question shows everything that the run changed.
    const { approvals } = given(await live.client.decisions({ run, status: 'open' }));
    await open(`/queue?decision=${approvals[0]?.approvalId}`);
    await desk.getByText('Changed by this run: 1 file').waitFor();
    await desk.getByRole('cell', { name: '- Runs can be searched.' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  it('[K202] is not answered by the second key of a sequence', async () => {
    const { decision } = await asking();
    await open(`/queue?decision=${decision}`);
    await page.getByRole('article').getByRole('button', { name: 'Approve' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForURL(/\/artifacts/);
    await page.getByRole('heading', { name: 'Artifacts' }).waitFor();
    expect(given(await live.client.decisions({ status: 'open' })).approvals.map(one => one.approvalId)).toContain(
      decision,
    );
  });

  it('[K151] is denied with a reason: two clicks, or the keyboard alone', async () => {
    const first = await asking();
    await open(`/queue?decision=${first.decision}`);
    const desk = page.getByRole('article');
    await desk.getByRole('button', { name: 'Approve' }).waitFor();
    const taken = await clicks(async () => {
      await desk.getByRole('button', { name: 'Deny…' }).click();
      await desk.getByRole('form', { name: 'Deny this?' }).getByText("The call isn't made").waitFor();
      await page.keyboard.type('Not before the release.');
      expect(await faultsOf(page)).toEqual([]);
      await desk.getByRole('button', { name: 'Deny', exact: true }).click();
    });
    expect(taken).toBe(2);
    const reasonOf = async (id: ApprovalId) => {
      const { approvals } = given(await live.client.decisions({ status: 'answered' }));
      const { resolution } = approvals.find(one => one.approvalId === id)?.decision ?? {};
      return `${resolution?.resolutionType} ${resolution?.rationale}`;
    };
    await expect.poll(() => reasonOf(first.decision)).toBe('reject Not before the release.');
    const second = await asking();
    await open(`/queue?decision=${second.decision}`);
    await desk.getByRole('button', { name: 'Approve' }).waitFor();
    await page.keyboard.press('d');
    await page.keyboard.type('No.');
    await page.keyboard.press('Enter');
    await expect.poll(() => reasonOf(second.decision)).toBe('reject No.');
  });
});

describe('the files of a run', () => {
  it('[K152] [V360] [A1070] are those that its calls changed, wherever they worked, without undone calls', async () => {
    const { run, decision } = await asking();
    expect(given(await live.client.changes(run))).toEqual({ directories: [], unknown: [] });
    given(await live.client.resolve(decision, { status: 'approved' }));
    await untilRollout(run);
    const file = { path: 'CHANGES.md', change: 'changed', before: BEFORE, after: readFileSync(changes(), 'utf8') };
    const whole = { directories: [{ directory: live.project, files: [file] }], unknown: [] };
    expect(given(await live.client.changes(run))).toEqual(whole);
    expect(given(await live.client.changes(run, { node: 'changelog' }))).toEqual(whole);
    expect(given(await live.client.changes(run, { node: 'check' })).directories).toEqual([]);
    expect(given(await live.client.changes(run, { frame: 0 })).directories).toEqual([]);
    await open(`/runs/${run}?tab=files`);
    await page.getByRole('cell', { name: '- Runs can be searched.' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const { checkpoints } = given(await live.client.checkpoints(run));
    const edit = checkpoints.find(({ tool }) => tool === 'edit_file')?.call ?? '';
    given(await live.client.undo(run, { call: edit }));
    expect(given(await live.client.changes(run)).directories).toEqual([]);
    await open(`/runs/${run}?tab=files`);
    await page.getByText('No files changed').waitFor();
    expect(unexpected()).toEqual([]);
  });
});

describe('a failure', () => {
  it('[K153] [K154] shows its stack after one click, its log and the same failure before; it is retried with one', async () => {
    live.break();
    const failedOnce = async () => {
      const { run, decision } = await asking({ broken: live.broken });
      const over = untilSummary(live.client, run, ({ record }) => record.status === 'failed');
      given(await live.client.resolve(decision, { status: 'approved' }));
      await over;
      return run;
    };
    const before = await failedOnce();
    const run = await failedOnce();
    await open('/runs?view=failed');
    const line = page.locator(`[data-item="${run}"]`).getByRole('link').first();
    await line.waitFor();
    const alert = page.getByRole('alert');
    const seen = await clicks(async () => {
      await line.click();
      await alert
        .getByText(/release\.tsx:\d+:\d+/)
        .first()
        .waitFor();
      await alert
        .getByText(/\bat .*release\.tsx:\d+:\d+/)
        .first()
        .waitFor();
    });
    expect(seen).toBe(1);
    await alert.getByText('The same failure before: 1 run').waitFor();
    expect(
      await alert
        .getByRole('link', { name: /release/ })
        .last()
        .getAttribute('href'),
    ).toContain(before);
    await alert.getByText('Log', { exact: true }).click();
    await alert.getByText('It wrote nothing.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await alert.getByRole('button', { name: 'Edit and rerun…' }).click();
    await page.getByRole('dialog', { name: 'Edit and rerun from Smoke test' }).getByLabel('Input (JSON)').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    live.mend();
    const rollout = untilRollout(run);
    const retried = await clicks(() => alert.getByRole('button', { name: 'Retry Smoke test' }).click());
    await rollout;
    expect(retried).toBe(1);
  });

  it('[K154] the failures page shows the code and the stack of each cause', async () => {
    await open('/failures');
    await page.getByText('1 failure, 1 cause').waitFor();
    const group = page.getByRole('region', { name: /the database is not there/ });
    await group.getByText(/throw new Error/).waitFor();
    await group
      .getByText(/\bat .*release\.tsx:\d+:\d+/)
      .first()
      .waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
  });
});

describe('another run', () => {
  it('[K184] is forked from a frame with an edited key in four clicks', async () => {
    const { run } = await asking();
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    const dialog = page.getByRole('dialog');
    const taken = await clicks(async () => {
      await page.getByRole('button', { name: 'Previous frame' }).click();
      await page.getByRole('button', { name: /^Fork from frame \d+…$/ }).click();
      await dialog.getByRole('textbox', { name: 'rollout' }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('"nobody"');
      await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
      await page.waitForURL(url => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(run));
    });
    expect(taken).toBe(4);
    const fork = new URL(page.url()).pathname.split('/').at(-1) as RunId;
    expect(given(await live.client.state(fork)).state).toMatchObject({ rollout: 'nobody' });
    expect(given(await live.client.state(run)).state).toMatchObject({ rollout: 'undecided' });
  });

  it('[K183] is compared with the previous one in two clicks, or with one key', async () => {
    await asking();
    const { run } = await asking();
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    const compared = page.getByRole('heading', { name: 'Where they part' });
    const taken = await clicks(async () => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Compare with previous run' }).click();
      await compared.waitFor();
    });
    expect(taken).toBe(2);
    await page.goBack();
    await node('changelog').waitFor();
    await page.keyboard.press('v');
    await compared.waitFor();
  });

  it('[K180] is found by a file that it touched in two clicks', async () => {
    const { run, decision } = await asking();
    given(await live.client.resolve(decision, { status: 'approved' }));
    await untilRollout(run);
    const isIndexed = async () =>
      given(await live.client.find({ q: 'CHANGES.md', limit: 100 })).found.some(thing => thing.run === run);
    await expect.poll(isIndexed).toBe(true);
    await open('/');
    await page.getByRole('heading', { name: 'Briefing' }).waitFor();
    const taken = await clicks(async () => {
      await page.getByRole('link', { name: /^Find/ }).click();
      await page.getByLabel('Find anything').and(page.locator(':focus')).waitFor();
      await page.keyboard.type('CHANGES.md');
      const first = page.locator('.found-line').first();
      await first.filter({ hasText: 'File' }).waitFor();
      await first.click();
      await call('Edit CHANGES.md').waitFor();
    });
    expect(taken).toBe(2);
    expect(new URL(page.url()).pathname).toBe(`/runs/${run}`);
  });

  it('[K186] [K201] is started again with another input in three clicks, or with the keyboard alone', async () => {
    const { run } = await asking();
    given(await live.client.terminate(run));
    await untilSummary(live.client, run, ({ record }) => record.endedAt !== undefined);
    await open(`/runs/${run}`);
    const field = page.getByLabel('version (optional)');
    const isStarted = () => page.waitForURL(url => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(run));
    const inputNow = async () => {
      const { input } = given(await live.client.run(new URL(page.url()).pathname.split('/').at(-1) as RunId));
      return (input as { readonly version?: string }).version;
    };
    const taken = await clicks(async () => {
      await page.getByRole('button', { name: 'Start again…' }).click();
      await field.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('3.0.0');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await isStarted();
    });
    expect(taken).toBe(3);
    expect(await inputNow()).toBe('3.0.0');
    await open(`/runs/${run}`);
    await page.getByRole('button', { name: 'Start again…' }).waitFor();
    await page.keyboard.press('s');
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('3.1.0');
    await page.keyboard.press('Enter');
    await isStarted();
    expect(await inputNow()).toBe('3.1.0');
    expect(unexpected()).toEqual([]);
  });
});

describe('the palette', () => {
  const pick = async (words: string) => {
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search actions').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(words);
  };
  const chosen = (name: RegExp) => page.getByRole('option', { name, selected: true });

  it('[K155] does what the page offers, with its key, and goes to nodes and recent runs by name', async () => {
    const { run } = await asking();
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    await pick('go to smoke');
    await chosen(/^Go to Smoke test/).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(/node=smoke-test/);
    await pick('fork from');
    await chosen(/^Fork from frame \d+….*f$/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await open('/queue');
    await page.getByRole('article').getByRole('button', { name: 'Deny…' }).waitFor();
    await pick('deny');
    await chosen(/^Deny/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('form', { name: 'Deny this?' }).waitFor();
    await page.keyboard.press('Escape');
    await pick(run.slice(-8));
    await page.getByRole('group', { name: 'Recent' }).getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
  });

  it('[K200] has every button of a page, and each option of a question', async () => {
    const { run, decision } = await asking();
    given(await live.client.resolve(decision, { status: 'approved' }));
    await untilRollout(run);
    const { approvals } = given(await live.client.decisions({ run, status: 'open' }));
    const places: readonly (readonly [place: string, actions: readonly RegExp[]])[] = [
      [`/runs/${run}`, [/^Compare with previous run.*v$/, /^Start again….*s$/, /^Fork from frame \d+….*f$/]],
      [`/queue?decision=${approvals[0]?.approvalId}`, [/^Choose: A tenth first/, /^Deny: .*d$/]],
      [`/compare?b=${run}`, [/^Swap.*x$/]],
      ['/runs', [/^Compare…/, /^Start a run/]],
      ['/settings', [/^Reload/]],
    ];
    for (const [place, actions] of places) {
      await open(place);
      await page.locator('main h1').first().waitFor();
      for (const name of actions) {
        // The palette reads the page when it opens, and parts of the page may come later.
        await expect
          .poll(async () => {
            await page.keyboard.press('Control+k');
            await page.getByPlaceholder('Search actions').waitFor();
            const count = await page.getByRole('group', { name: 'On this page' }).getByRole('option', { name }).count();
            await page.keyboard.press('Escape');
            await page.getByRole('dialog').waitFor({ state: 'detached' });
            return count;
          }, PATIENCE)
          .toBe(1);
      }
    }
    await open('/runs');
    await page.getByRole('button', { name: 'Compare…' }).waitFor();
    await pick('compare');
    await chosen(/^Compare…/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Choose two runs' }).waitFor();
  });

  it('[K157] what was done is undone with one key, while it is offered', async () => {
    const { run } = await asking();
    await open(`/runs/${run}`);
    await node('changelog').waitFor();
    const kept = untilSummary(live.client, run, ({ record }) => record.kept !== undefined);
    await pick('keep forever');
    await chosen(/^Keep forever/).waitFor();
    await page.keyboard.press('Enter');
    await kept;
    await page.getByRole('status').getByText('Keeping release').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const released = untilSummary(live.client, run, ({ record }) => record.kept === undefined);
    await page.keyboard.press('u');
    await released;
    expect(unexpected()).toEqual([]);
  });
});

describe('for everybody', () => {
  it('[K12] the tasks fit a phone and a page at 200 %, and need no motion', async () => {
    const { run, decision } = await asking();
    const places = [
      `/runs/${run}?node=changelog`,
      `/queue?decision=${decision}`,
      '/failures',
      `/runs/${run}?tab=files`,
    ];
    for (const [width, height] of [
      [390, 844],
      [640, 400],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const place of places) {
        await open(place);
        await page.locator('h1').first().waitFor();
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(unexpected()).toEqual([]);
  });
});
