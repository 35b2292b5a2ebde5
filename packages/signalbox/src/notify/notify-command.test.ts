import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

it('[X167] notify shows what is configured, and sends a test', async () => {
  const data = mkdtempSync(path.join(tmpdir(), 'notify-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const said = async (...args: readonly string[]) => {
    const terminal = memoryTerminal();
    const code = await main(['notify', ...args, '--data-dir', data], terminal);
    return { code, printed: terminal.printed.join('\n'), complaints: terminal.complaints.join('\n') };
  };
  const configure = (notify: object) => writeFileSync(path.join(data, 'config.json'), JSON.stringify({ notify }));
  expect((await said()).printed).toContain('webhook  none');
  const file = path.join(data, 'heard');
  configure({
    webhook: undefined,
    command: ['/bin/sh', '-c', `cat > '${file}'`],
    quiet: { from: '22:00', to: '07:00' },
  });
  const sent = await said('--test');
  expect(sent).toMatchObject({ code: 0, printed: expect.stringContaining('Sent.') });
  expect(sent.printed).toContain('quiet    22:00 to 07:00');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ v: 1, kind: 'test' });
  configure({ webhook: 'http://127.0.0.1:1/secret' });
  const failed = await said('--test');
  expect(failed).toMatchObject({ code: 1, complaints: expect.stringContaining('could not be reached') });
  expect(failed.printed + failed.complaints).not.toContain('secret');
  configure({ quiet: { from: '25:00', to: '07:00' } });
  expect(await said()).toMatchObject({ code: 2 });
});
