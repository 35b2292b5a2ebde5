import { expect, it } from 'vitest';
import { code, httpAsker, json, UNKNOWN } from './http-asker.ts';

it('[V70] a run is downloaded as the file that was written of it', async () => {
  const { host, ask } = httpAsker();
  const { id } = await host.begin('release');
  const answered = await ask('GET', `/api/runs/${id}/bundle`);
  expect([answered.status, await answered.text()]).toEqual([200, `bundle of ${id}`]);
  expect(answered.headers.get('content-disposition')).toBe(`attachment; filename="${id}.bundle"`);
  expect(answered.headers.get('content-length')).toBe(String(`bundle of ${id}`.length));
  expect(await code(ask('GET', `/api/runs/${UNKNOWN}/bundle`))).toEqual([404, 'run/unknown']);
});

it('[V71] a bundle is taken in from its file, as whoever asks, or refused with what is wrong', async () => {
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
    expect.any(Number),
    'BUNDLE_INVALID_FORMAT',
  ]);
  expect(await code(ask('POST', '/api/imports', { body: {} }))).toEqual([400, 'VALIDATION_ERROR']);
});
