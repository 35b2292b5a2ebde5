import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openHome } from '../src/host/open-home.ts';
import type { RunAction } from '../src/host/run-host.ts';
import { thisMachine } from '../src/machine.ts';
import { planText, testHostOf } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Nobody reads that much while a test runs: a capture that goes on is never over. It takes no room on the disk. */
const HUGE = 2 ** 40;
/** Tells whether this process has a file open. */
const isOpen = (file: string) =>
  readdirSync('/proc/self/fd').some(descriptor => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false;
    }
  });

describe.skipIf(!existsSync('/proc/self/fd'))('a run whose agent replaces a huge file', () => {
  const ways: readonly (RunAction & { readonly kind: 'terminate' | 'stop' })[] = [
    { kind: 'terminate', reason: 'enough' },
    { kind: 'stop', reason: 'enough' },
  ];

  it.each(ways)('[A423] ends at once on $kind while the file is captured, which is left as it was', async action => {
    const folder = temporaryFolder();
    const huge = path.join(folder, 'work', 'huge');
    mkdirSync(path.dirname(huge));
    writeFileSync(huge, '');
    truncateSync(huge, HUGE);
    const server = await startModelServer([
      { calls: [{ tool: 'write_file', input: { path: 'huge', content: 'replaced' } }] },
      { text: 'Done.' },
    ]);
    const home = await openHome({
      dataDirectory: path.join(folder, 'data'),
      machine: thisMachine(),
      env: { ANTHROPIC_API_KEY: 'the-key-of-the-model', ANTHROPIC_BASE_URL: server.url },
      threads: { threads: 1 },
    });
    if (!home.ok) throw new Bug(home.error.message);
    onTestFinished(async () => {
      await home.value.close();
      await server.close();
    });
    const { host, owned, close } = home.value;
    const test = testHostOf(folder, host, owned.store, close);
    const agent =
      '<Agent id="a" model="anthropic:claude-test" cwd="work" permissions="skip" maxTurns={3} prompt="Go." />';
    const run = await test.start('plan', planText(agent));
    await until(() => isOpen(huge) || undefined);
    expect(await host.act(run, action, 'ada')).toMatchObject({ ok: true });
    expect(await test.end(run)).toMatchObject({ status: 'stopped' });
    await until(() => !isOpen(huge) || undefined);
    expect(statSync(huge).size).toBe(HUGE);
    const events = (await owned.store.events(run, 0, 500)).map(({ event }) => event.type);
    expect(events.filter(type => type === 'task.ended')).toHaveLength(1);
  });
});
