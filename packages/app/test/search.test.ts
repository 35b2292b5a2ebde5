import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { FindKind, FoundList, RunId } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { filledIn } from '../../guided/test/support/agent-calls.ts';
import { openGuidedTools } from '../src/guided/guided-home.ts';
import { thisMachine } from '../src/machine.ts';
import { repairHome } from '../src/repair/repair-home.ts';
import { findBeside } from '../src/search/find-beside.ts';
import { searchFile } from '../src/search/refresh-search.ts';
import { planText } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PLAN = planText(
  `<Phase name="writing"><Agent id="author" model="anthropic:claude-test" cwd="work" prompt="Describe the lighthouse." maxTurns={6}
     onFinished={said => ctx.state.set('said', said)} /></Phase>
   <Phase name="keeping"><Task id="ledger" run={async ({ artifact }) => { await artifact.markdown('Chronicle', 'The storm of 1911'); }} /></Phase>`,
  'z.object({ said: z.any() })',
);

const SCRIPT = [
  {
    text: 'I look around.',
    calls: [{ tool: 'write_file', input: { path: 'docs/harbour.md', content: 'breakwater' } }],
  },
  { text: 'The lantern is lit.', usage: { input: 10, output: 5 } },
];

/** A home with one run of everything that can be found. */
async function openSearched() {
  const folder = temporaryFolder();
  const home = await openScriptedHome(folder, SCRIPT);
  const run = await home.start('coast', PLAN, {
    name: 'survey of the coast',
    input: { region: 'Finistère' },
    tags: ['summer'],
  });
  await home.end(run);
  return { ...home, folder, data: path.join(folder, 'data'), run };
}

const found = (list: FoundList) => list.found.map(({ kind, title }) => `${kind} ${title}`);

async function search(home: Awaited<ReturnType<typeof openSearched>>, q: string, kind?: FindKind): Promise<FoundList> {
  // A search waits for the index only a moment, on a busy machine not long enough.
  return until(async () => {
    const answer = await home.host.search.find({ q, ...(kind && { kind: [kind] }) });
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.value.behind === 0 ? answer.value : undefined;
  });
}

describe('the search of a data directory', () => {
  it('[A1085] finds runs, nodes, messages, tool calls, files and artifacts by what they say', async () => {
    const home = await openSearched();
    const { run } = home;
    expect(await home.store.run(run)).toMatchObject({ status: 'completed' });
    expect((await search(home, 'survey')).found).toMatchObject([
      { kind: 'run', run, title: 'survey of the coast', runName: 'survey of the coast' },
    ]);
    expect(found(await search(home, 'finistere'))).toEqual(['run survey of the coast']);
    expect(found(await search(home, 'summer'))).toEqual(['run survey of the coast']);
    expect(found(await search(home, run))).toEqual(['run survey of the coast']);
    expect((await search(home, 'lighthouse')).found).toMatchObject([{ kind: 'node', node: 'author', run }]);
    expect((await search(home, 'lantern', 'message')).found).toMatchObject([{ kind: 'message', node: 'author', run }]);
    expect((await search(home, 'breakwater')).found).toMatchObject([
      { kind: 'call', node: 'author', title: 'write_file' },
    ]);
    expect((await search(home, 'harbour.md', 'file')).found).toMatchObject([
      { kind: 'file', title: 'docs/harbour.md', run },
    ]);
    const [chronicle] = (await search(home, 'storm 1911')).found;
    expect(chronicle).toMatchObject({ kind: 'artifact', title: 'Chronicle', node: 'ledger' });
    expect(chronicle?.artifact).toBe((await home.store.artifacts(run)).find(({ name }) => name === 'Chronicle')?.id);
  });

  it('[A1085] finds messages and artifacts that are too large for a record', async () => {
    const filling = 'tide '.repeat(20_000);
    const plan = planText(
      `<Agent id="author" model="anthropic:claude-test" cwd="work" prompt="Describe the lighthouse." />
       <Task id="ledger" run={async ({ artifact }) => { await artifact.markdown('Chronicle', 'trawler ' + 'tide '.repeat(20_000)); }} />`,
    );
    const home = await openScriptedHome(temporaryFolder(), [{ text: `beacon ${filling}` }]);
    const run = await home.start('large', plan);
    await home.end(run);
    const searched = { ...home, folder: '', data: '', run };
    expect((await search(searched, 'beacon', 'message')).found).toMatchObject([{ kind: 'message', node: 'author' }]);
    expect((await search(searched, 'trawler')).found).toMatchObject([{ kind: 'artifact', title: 'Chronicle' }]);
  });

  it('[A1085] finds the notes of guided sessions', async () => {
    const home = await openSearched();
    const guided = openGuidedTools({ dataDirectory: home.data, directories: [], machine: thisMachine() });
    const started = await guided.start({ workflowId: 'wr.bug-investigation' });
    if (!started.ok) throw new Error(started.error.message);
    const { sessionId } = started.value;
    expect(await guided.continue(filledIn(started.value))).toMatchObject({ ok: true });
    expect((await search(home, '"two sources" measurement', 'note')).found).toMatchObject([
      { kind: 'note', session: sessionId },
    ]);
  });

  it('[A1086] commits wait for no index: the search says how much it lacks, and finds it a moment later', async () => {
    const home = await openSearched();
    const list = await home.host.search.find({ q: 'survey' });
    expect(list).toMatchObject({ ok: true });
    expect(found(await search(home, 'survey'))).toEqual(['run survey of the coast']);
    const again = await home.start('coast', PLAN.replace('writing', 'sketching'), { name: 'second survey' });
    await home.end(again);
    expect(found(await search(home, 'survey'))).toEqual(['run second survey', 'run survey of the coast']);
  });

  it('[A1087] another process finds the same beside the owner, and without one', async () => {
    const home = await openSearched();
    const beside = async (data: string): Promise<readonly string[]> => {
      const reader = openReader({ path: path.join(data, 'db.sqlite') });
      if (!reader.ok) throw new Error(reader.error.message);
      const list = await findBeside({ dataDirectory: data, reader: reader.value }, { q: 'survey' });
      reader.value.close();
      if (!list.ok) throw new Error(list.error.message);
      return found(list.value);
    };
    expect(await beside(home.data)).toEqual(['run survey of the coast']);
    await home.close();
    expect(await beside(home.data)).toEqual(['run survey of the coast']);
    for (const part of ['', '-wal', '-shm']) rmSync(`${searchFile(home.data)}${part}`, { force: true });
    expect(await beside(home.data)).toEqual(['run survey of the coast']);
    expect(repairHome({ dataDirectory: home.data, machine: thisMachine() })).toMatchObject({
      ok: true,
      value: { ok: true },
    });
    expect(existsSync(searchFile(home.data))).toBe(false);
    expect(await beside(home.data)).toEqual(['run survey of the coast']);
    expect(await findBeside({ dataDirectory: temporaryFolder(), reader: undefined }, { q: 'survey' })).toEqual({
      ok: true,
      value: { found: [], counts: {}, behind: 0 },
    });
  });

  it('[A1088] what was redacted is not found, and not in the index', async () => {
    const home = await openSearched();
    expect((await search(home, 'breakwater')).found).toHaveLength(1);
    const done = await home.host.redactions.redact(home.run as RunId, { value: 'breakwater', name: 'WORD' }, 'ada');
    expect(done).toMatchObject({ ok: true });
    expect((await search(home, 'breakwater')).found).toEqual([]);
    expect(found(await search(home, 'survey'))).toEqual(['run survey of the coast']);
    await home.close();
    expect(readFileSync(searchFile(home.data)).includes('breakwater')).toBe(false);
  });
});
