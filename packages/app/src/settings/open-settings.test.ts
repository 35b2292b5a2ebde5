import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type SettingItem, settings } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { readLogSettings } from '../logs/log-config.ts';
import { openSettings } from './open-settings.ts';

const SECRET = 'sk-planted-in-the-wrong-place';
const KEY = 'sk-in-its-place';

/** A data directory, what is written in its configuration, and the settings of a process that starts now. */
function place(written?: string) {
  const home = temporaryFolder();
  const write = (text: string) => writeFileSync(path.join(home, 'config.json'), text);
  if (written !== undefined) write(written);
  const logs = readLogSettings(home);
  const desk = openSettings({
    dataDirectory: home,
    directoryFrom: 'environment',
    env: { SIGNALBOX_DATA_DIR: home, ANTHROPIC_API_KEY: KEY },
    clock: manualMachine().clock,
    logs: logs.ok ? logs.value : {},
    providers: [
      { name: 'anthropic', key: { name: 'ANTHROPIC_API_KEY', isSet: true }, baseUrlName: 'ANTHROPIC_BASE_URL' },
    ],
    tools: async () => [
      { name: 'read_file', description: 'Reads.', risk: 'low', effects: { kind: 'read-only' } },
      { name: 'write_file', description: 'Writes.', risk: 'low', effects: { kind: 'files' } },
      { name: 'send_mail', description: 'Sends.', risk: 'low', effects: { kind: 'external' } },
    ],
    workflowDirectories: [path.join(home, 'workflows')],
    planRoots: ['/a-project'],
  });
  const read = async () =>
    settings
      .omit({ user: true })
      .strict()
      .parse(await desk.read());
  const item = async (name: string) => (await read()).items.find(one => one.name === name) as SettingItem;
  const problem = async () => (await read()).sources[0]?.problem;
  return { home, write, read, item, problem };
}

describe('the settings', () => {
  it('[A122] say where they are read from, and whether that is there', async () => {
    const { home, read } = place();
    mkdirSync(path.join(home, 'workflows'));
    const { sources, items } = await read();
    expect(sources.map(({ kind, name, isThere }) => [kind, path.basename(name), isThere])).toEqual([
      ['file', 'config.json', false],
      ['directory', 'workflows', true],
      ['environment', 'SIGNALBOX_DATA_DIR', true],
      ['environment', 'ANTHROPIC_API_KEY', true],
      ['environment', 'ANTHROPIC_BASE_URL', false],
    ]);
    expect(items[0]).toMatchObject({ name: 'dataDirectory', applied: home, from: 'environment' });
  });

  it('[A122] are told as they are written and as they are applied; what counts after a restart says so', async () => {
    const { write, read, item } = place('{"retention": {"removeAfterDays": 7}, "logs": {"level": "warn"}}');
    expect(await item('logs.level')).toMatchObject({
      desired: 'warn',
      applied: 'warn',
      from: 'file',
      needsRestart: false,
    });
    expect(await item('logs.maxBytes')).toMatchObject({ desired: 16_777_216, applied: 16_777_216, from: 'default' });
    expect((await read()).needsRestart).toBe(false);
    write('{"retention": {"removeAfterDays": null}, "logs": {"level": "error"}}');
    expect(await item('logs.level')).toMatchObject({
      desired: 'error',
      applied: 'warn',
      counts: 'after-restart',
      needsRestart: true,
    });
    expect(await item('retention.removeAfterDays')).toMatchObject({
      desired: null,
      applied: null,
      from: 'file',
      counts: 'at-once',
      needsRestart: false,
    });
    const { needsRestart, retention } = await read();
    expect([needsRestart, retention]).toEqual([true, { collapseAfterDays: 30, removeAfterDays: null }]);
  });

  it('[A122] say of each tool when a person is asked', async () => {
    const { tools } = await place().read();
    expect(tools.map(({ tool, asks }) => [tool, asks])).toEqual([
      ['read_file', 'never'],
      ['write_file', 'gated'],
      ['send_mail', 'always'],
    ]);
  });

  it.each([
    ['{', /is not JSON/],
    ['[]', /is not a JSON object/],
    ['null', /is not a JSON object/],
    [`{"retention": "${SECRET}"}`, /Nothing is collected.*retention/],
    [`{"retention": {"${SECRET}": 1}}`, /has an unknown field/],
    ['{"retention": {"removeAfterDays": "7"}}', /retention\.removeAfterDays/],
    [`{"logs": {"level": "${SECRET}"}}`, /logs\.level/],
    [`{"logs": {"${SECRET}": "${SECRET}"}}`, /has an unknown field/],
    [
      `{"retentoin": {}, "${SECRET}": "${SECRET}", "apiKey": "${SECRET}"}`,
      /3 unknown parts, such as retentoin, apiKey/,
    ],
    [' '.repeat(2_000_000), /more than 1048576 bytes/],
  ])('[A123] say what is wrong with %.40s, and nothing that is written there', async (text, why) => {
    const { problem, read, item } = place(text);
    expect(await problem()).toMatch(why);
    expect(await item('logs.level')).toMatchObject({ applied: 'debug' });
    expect(JSON.stringify(await read())).not.toMatch(/sk-/);
  });

  it('[A123] have no value where the file cannot be read', async () => {
    const { home, item, read, problem } = place();
    mkdirSync(path.join(home, 'config.json'));
    expect(await problem()).toMatch(/cannot be read \(EISDIR\)/);
    expect(await item('retention.removeAfterDays')).not.toHaveProperty('desired');
    expect(await item('logs.level')).not.toHaveProperty('desired');
    expect(await read()).not.toHaveProperty('retention');
  });
});
