import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openHome, thisMachine } from '@signalbox/app/host';
import { errorEnvelope } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { auth, code, httpAsker, json, TOKEN, UNKNOWN } from './http-asker.ts';
import { bundleOf } from './scripted-host.ts';

it('[V70] a run is downloaded exactly as its exported file', async () => {
  const { host, ask } = httpAsker();
  const { id } = await host.begin('release');
  const answered = await ask('GET', `/api/runs/${id}/bundle`);
  expect([answered.status, await answered.text()]).toEqual([200, bundleOf(id)]);
  expect(answered.headers.get('content-disposition')).toBe(`attachment; filename="${id}.bundle"`);
  expect(answered.headers.get('content-length')).toBe(String(bundleOf(id).length));
  expect(await code(ask('GET', `/api/runs/${UNKNOWN}/bundle`))).toEqual([404, 'run/unknown']);
});

it('[V273] requesting only the headers of a download leaves no file and keeps none open', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'exports-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const { host, ask } = httpAsker();
  const { id } = await host.begin('release');
  const answered = await ask('HEAD', `/api/runs/${id}/bundle`);
  expect([answered.status, await answered.text()]).toEqual([200, '']);
  expect(answered.headers.get('content-length')).toBe(String(bundleOf(id).length));
  await expect.poll(() => readdirSync(folder)).toEqual([]);
});

it('[V71] a bundle is imported from its file in the caller’s name, or refused with the reason', async () => {
  const { host, ask } = httpAsker();
  const { id } = await host.begin('release');
  const head = (await host.store.run(id))?.head;
  expect(await json(ask('POST', '/api/imports', { body: { file: `/bundles/${id}` } }))).toEqual({
    run: id,
    runs: 1,
    from: { run: id, head },
    bundle: head,
    packages: [],
  });
  expect(await code(ask('POST', '/api/imports', { body: { file: '/bundles/none' } }))).toEqual([
    400,
    'BUNDLE_INVALID_FORMAT',
  ]);
  expect(await code(ask('POST', '/api/imports', { body: {} }))).toEqual([400, 'VALIDATION_ERROR']);
});

it('[V225] anything but a bundle is refused with 400 and the envelope', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'imports-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    env: {},
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Error(home.error.message);
  onTestFinished(() => home.value.close());
  const app = createHttpApp({
    host: home.value.host,
    access: createAccess(TOKEN, () => 4280),
    onFault: thrown => {
      throw thrown;
    },
  });
  const example = new URL('../../../examples/07-replay-in-a-test/run.bundle', import.meta.url);
  const whole = readFileSync(example);
  const damaged = Buffer.from(whole);
  damaged[whole.length >> 1] = (damaged[whole.length >> 1] ?? 0) ^ 1;
  const contents: Readonly<Record<string, string | Buffer>> = {
    empty: '',
    text: 'This is a letter.',
    json: '{"head":{}}',
    zip: 'PK\u0003\u0004',
    cut: whole.subarray(0, whole.length >> 1),
    damaged,
    longer: Buffer.concat([whole, Buffer.from('more')]),
  };
  for (const [name, content] of Object.entries(contents)) writeFileSync(path.join(folder, name), content);
  const codes: Record<string, unknown> = {};
  for (const name of [...Object.keys(contents), 'missing', '', 'text/below', 'a\u0000b']) {
    const answered = await app.request('/api/imports', {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json' },
      body: JSON.stringify({ file: path.join(folder, name), anyFile: true }),
    });
    codes[name] = [answered.status, errorEnvelope.parse(await answered.json()).code];
  }
  const refused = (code: string) => [400, code];
  expect(codes).toEqual({
    ...Object.fromEntries(['empty', 'text', 'json', 'zip'].map(name => [name, refused('BUNDLE_INVALID_FORMAT')])),
    ...Object.fromEntries(['cut', 'damaged', 'longer'].map(name => [name, refused('BUNDLE_INTEGRITY_FAILED')])),
    ...Object.fromEntries(['missing', '', 'text/below', 'a\u0000b'].map(name => [name, refused('command/usage')])),
  });
  expect((await home.value.host.reader.runs()).items).toEqual([]);
});
