import { artifactList, type Digest, deriveId, type RunId, wireArtifact, workspaceDiff } from '@signalbox/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Asker, code, httpAsker, UNKNOWN } from './http-asker.ts';
import { at, type Kept, keepArtifact } from './keep-artifact.ts';

let host: Asker['host'];
let ask: Asker['ask'];

beforeEach(() => {
  ({ host, ask } = httpAsker());
});

const keep = (run: RunId, content: string | Uint8Array, kept?: Kept) => keepArtifact(host, run, content, kept);

const headersOf = ({ status, headers }: Response) => ({
  status,
  type: headers.get('content-type'),
  disposition: headers.get('content-disposition')?.split(';')[0],
  sniff: headers.get('x-content-type-options'),
});

describe('artifacts over HTTP', () => {
  it('[V75] are listed by run, kind and key, newest first and in pages, only the last version of a key', async () => {
    const [one, other] = [await host.begin('one'), await host.begin('two')];
    const first = await keep(one.id, '{"current":1,"total":2}', { kind: 'progress', key: 'build' });
    const second = await keep(one.id, '{"current":2,"total":2}', { kind: 'progress', key: 'build' });
    const notes = await keep(one.id, '# Notes');
    const elsewhere = await keep(other.id, '# Notes');
    const list = async (query: string) => artifactList.parse(await (await ask('GET', `/api/artifacts${query}`)).json());
    const ids = async (query: string) => (await list(query)).artifacts.map(({ id }) => id);
    expect(await ids('')).toEqual([elsewhere, notes, second]);
    expect(await ids(`?run=${one.id}`)).toEqual([notes, second]);
    expect(await ids(`?run=${one.id}&key=build&versions=all`)).toEqual([second, first]);
    expect(await ids('?kind=progress')).toEqual([second]);
    const page = await list('?versions=all&limit=3');
    expect([page.artifacts.length, await ids(`?versions=all&limit=3&after=${page.next}`)]).toEqual([3, [first]]);
    for (const query of ['?run=x', '?kind=exe', '?limit=0', '?limit=9999', '?other=1', '?key=a&key=b', '?after=1']) {
      expect(await code(ask('GET', `/api/artifacts${query}`))).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('[V75] are shown by their id, with a reference and without content', async () => {
    const { id: run } = await host.begin('one');
    const id = await keep(run, '# Notes', { key: 'notes' });
    const shown = wireArtifact.parse(await (await ask('GET', `/api/artifacts/${id}`)).json());
    expect(shown).toMatchObject({
      id,
      run,
      ref: `artifact://${id}`,
      node: 'build',
      key: 'notes',
      version: 1,
      bytes: 7,
    });
    expect(shown).not.toHaveProperty('content');
    for (const unknown of [UNKNOWN, 'x', `${id}x`]) {
      expect(await code(ask('GET', `/api/artifacts/${unknown}`))).toEqual([404, 'artifact/unknown']);
      expect(await code(ask('GET', `/api/artifacts/${unknown}/content`))).toEqual([404, 'artifact/unknown']);
    }
  });

  it.each([
    ['text/markdown', 'text/plain; charset=utf-8', 'inline'],
    ['application/json', 'application/json; charset=utf-8', 'inline'],
    ['image/png', 'image/png', 'inline'],
    ['image/svg+xml', 'application/octet-stream', 'attachment'],
    ['text/html', 'application/octet-stream', 'attachment'],
    ['application/xhtml+xml', 'application/octet-stream', 'attachment'],
    ['text/javascript', 'application/octet-stream', 'attachment'],
    ['image/png; charset=x', 'application/octet-stream', 'attachment'],
    ['TEXT/HTML', 'application/octet-stream', 'attachment'],
  ])('[V76] of type %s are sent as %s, %s, and nobody guesses', async (mimeType, type, disposition) => {
    const { id: run } = await host.begin('one');
    const id = await keep(run, Buffer.from('<script>alert(1)</script>'), { kind: 'other', mimeType });
    const answer = await ask('GET', `/api/artifacts/${id}/content`);
    expect(headersOf(answer)).toEqual({ status: 200, type, disposition, sniff: 'nosniff' });
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await answer.text()).toBe('<script>alert(1)</script>');
  });

  it('[V76] have a name without a path', async () => {
    const { id: run } = await host.begin('one');
    const nameOf = async (name: string, mimeType = 'text/markdown') => {
      const id = await keep(run, 'x', { name, mimeType });
      return (await ask('GET', `/api/artifacts/${id}/content`)).headers.get('content-disposition');
    };
    expect(await nameOf('Report')).toBe('inline; filename=Report.md');
    expect(await nameOf('../../etc/passwd\r\nX-Evil: 1')).toBe('inline; filename="__.._etc_passwd__X-Evil_ 1.md"');
    expect(await nameOf('größe "100%"', 'image/png')).toBe(
      `inline; filename="gr__e _100__.png"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20_100%25_.png`,
    );
  });

  it('[V77] are sent in part on request', async () => {
    const { id: run } = await host.begin('one');
    const id = await keep(run, '0123456789');
    const part = async (range: string, more: Record<string, string> = {}) => {
      const answer = await ask('GET', `/api/artifacts/${id}/content`, { headers: { range, ...more } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await part('bytes=-99')).toEqual([206, 'bytes 0-9/10', '0123456789']);
    expect(await part('bytes=5-99')).toEqual([206, 'bytes 5-9/10', '56789']);
    expect(await part('bytes=10-')).toEqual([416, 'bytes */10', '']);
    expect(await part('bytes=-0')).toEqual([416, 'bytes */10', '']);
    for (const odd of ['bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b']) {
      expect(await part(odd)).toEqual([200, null, '0123456789']);
    }
    const etag = (await ask('GET', `/api/artifacts/${id}/content`)).headers.get('etag') ?? '';
    expect(await part('bytes=2-4', { 'if-range': etag })).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=2-4', { 'if-range': '"other"' })).toEqual([200, null, '0123456789']);
    expect((await ask('GET', `/api/artifacts/${id}/content`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('[V78] need a token like everything else', async () => {
    const { id: run } = await host.begin('one');
    const id = await keep(run, 'secret');
    for (const path of ['/api/artifacts', `/api/artifacts/${id}/content`, `/api/runs/${run}/diff`]) {
      expect(await code(ask('GET', path, { headers: { authorization: '' } }))).toEqual([401, 'request/unauthorized']);
    }
  });
});

describe('the changes of a workspace over HTTP', () => {
  it('[V79] go up to the requested frame', async () => {
    const scripted = await host.begin('one');
    expect(await code(ask('GET', `/api/runs/${scripted.id}/diff`))).toEqual([404, 'workspace/none']);
    const blob = async (text: string) => {
      const put = await host.store.put([Buffer.from(text)]);
      return (put.ok ? put.value[0] : undefined) as Digest;
    };
    const owned = { mode: 0o644, uid: 0, gid: 0 };
    const tree = async (text: string) => {
      const file = { name: 'a.txt', kind: 'file', ...owned, size: text.length, digest: await blob(text) };
      return blob(JSON.stringify({ version: 1, ...owned, entries: [file] }));
    };
    const run = deriveId<RunId>('a run with a workspace');
    const frame = (index: number) => ({
      ...{ index, at: at(index), trigger: { kind: 'state' as const }, mounted: [], unmounted: [], written: [] },
      ...{ digest: `sha256:${'0'.repeat(64)}` as Digest, verifiable: true },
    });
    const files = async (index: number, text: string) => {
      const change = { kind: 'set' as const, value: await tree(text) };
      return [{ space: 'workspace' as const, key: 'files', fromFrame: index, change }];
    };
    const create = {
      ...{ driver: 'plan' as const, name: 'own', tags: [], status: 'running' as const, phase: 'EXECUTE' as const },
      ...{ mode: 'AUTO' as const, globalMode: 'IMPLEMENTATION' as const, input: null, limits: {}, seed: 1 },
      workspace: { vcs: 'git' as const, base: '/srv/repo', path: '/srv/work' },
    };
    const first = {
      at: at(0),
      run: { kind: 'create' as const, run: create },
      frame: frame(0),
      intervals: await files(0, 'one\n'),
      events: [{ type: 'run.created' as const, driver: 'plan' as const, name: 'own' }],
    };
    expect(await host.store.commit(first, { run, epoch: 0, version: 0 })).toMatchObject({ ok: true });
    const second = { at: at(1), frame: frame(1), intervals: await files(1, 'two\n') };
    expect(await host.store.commit(second, { run, epoch: 0, version: 1 })).toMatchObject({ ok: true });
    const diff = async (query: string) =>
      workspaceDiff.parse(await (await ask('GET', `/api/runs/${run}/diff${query}`)).json());
    expect(await diff('?frame=0')).toEqual({ frame: 0, files: [], patch: '' });
    expect(await diff('')).toMatchObject({
      frame: 1,
      files: [{ path: 'a.txt', change: 'changed' }],
      patch: expect.stringContaining('-one\n+two\n'),
    });
    expect(await code(ask('GET', `/api/runs/${run}/diff?frame=2`))).toEqual([404, 'run/frame-unknown']);
    expect(await code(ask('GET', `/api/runs/${run}/diff?frame=-1`))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(ask('GET', `/api/runs/${UNKNOWN}/diff`))).toEqual([404, 'run/unknown']);
  });
});
