import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import type { CommitNotice, RunFeed } from '@signalbox/runs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tellNotices } from './notices.ts';
import { type Notice, sendNotice } from './send-notice.ts';

const RUN = '01a1f1e2-fb92-7445-ba69-000000000001';
const NOON = new Date(2026, 10, 19, 12).valueOf();

function scene(config: Parameters<typeof tellNotices>[0]['config'], faults: readonly string[] = []) {
  const sent: Notice[] = [];
  const logged: string[] = [];
  const timers: (() => void)[] = [];
  let listener: (notice: CommitNotice) => void = () => {};
  const feed: RunFeed = {
    subscribe(_: RunId | 'all', listen: (notice: CommitNotice) => void) {
      listener = listen;
      return () => {};
    },
  };
  const open = [{ run: RUN, decision: { id: 'd1', node: 'ask', kind: 'human' } }];
  const reader = { run: async () => ({ id: RUN, name: 'release' }), decisions: async () => open };
  const end = tellNotices({
    ...{ feed, reader: reader as never, config, env: {}, clock: { now: () => NOON }, url: 'http://console' },
    timers: {
      after(_: number, act: () => void) {
        timers.push(act);
        return () => {};
      },
    } as never,
    onFault: why => logged.push(why),
    async send(notice) {
      sent.push(notice);
      return faults;
    },
  });
  const commit = async (fields: object) => {
    listener({ run: RUN, version: 1, seq: 0, asks: false, events: [], stream: [], ...fields } as never);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const status = (to: string, id = to) => ({
    events: [{ event: { type: 'run.status', id, from: 'running', to, error: { message: 'boom' } } }],
  });
  return { sent, logged, timers, commit, status, end };
}

describe('notices', () => {
  it('[A1091] tell of each decision once, with where it is answered', async () => {
    const { sent, commit, status } = scene({ command: ['/bin/true'] });
    await commit({ asks: true });
    await commit({ asks: true });
    await commit(status('failed'));
    expect(sent).toEqual([
      {
        ...{ v: 1, kind: 'decision', title: 'release needs you', text: 'human at ask', run: RUN, runName: 'release' },
        ...{ decision: 'd1', url: 'http://console/queue?decision=d1', at: new Date(NOON).toISOString() },
      },
    ]);
  });

  it('[A1091] tell of ends of runs where that is wanted', async () => {
    const { sent, commit, status } = scene({ kinds: ['failed', 'completed'] });
    await commit({ asks: true });
    await commit(status('failed'));
    await commit(status('completed'));
    await commit(status('paused'));
    expect(sent.map(({ kind, title, text }) => [kind, title, text])).toEqual([
      ['failed', 'release failed', 'boom'],
      ['completed', 'release completed', ''],
    ]);
  });

  it('[A1091] are tried once more, then logged', async () => {
    const { sent, logged, timers, commit } = scene({}, ['The webhook answered 500.']);
    await commit({ asks: true });
    expect([sent.length, timers.length, logged]).toEqual([1, 1, []]);
    timers[0]?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect([sent.length, timers.length, logged]).toEqual([2, 1, ['The webhook answered 500.']]);
  });

  it('[A1092] keep quiet when they should', async () => {
    const { sent, commit } = scene({ quiet: { from: '11:00', to: '13:00' } });
    await commit({ asks: true });
    expect(sent).toEqual([]);
  });

  it('[A1091] reach a webhook and a command as JSON, and say what failed without the address', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', chunk => bodies.push(String(chunk)));
      request.on('end', () => response.writeHead(request.url === '/good' ? 204 : 500).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const folder = mkdtempSync(path.join(tmpdir(), 'notify-'));
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const notice: Notice = { v: 1, kind: 'test', title: 'Hello', text: '', at: '2026-11-19T00:00:00.000Z' };
    const file = path.join(folder, 'heard');
    const command = ['/bin/sh', '-c', `cat > '${file}'`];
    expect(await sendNotice(notice, { webhook: `${base}/good`, command }, process.env)).toEqual([]);
    expect([JSON.parse(bodies.join('')), JSON.parse(readFileSync(file, 'utf8'))]).toEqual([notice, notice]);
    const failed = await sendNotice(
      notice,
      { webhook: `${base}/secret`, command: ['/bin/sh', '-c', 'exit 3'] },
      process.env,
    );
    expect(failed).toEqual(['The webhook answered 500.', 'The command /bin/sh ended with 3.']);
    expect(failed.join()).not.toContain('secret');
  });
});
