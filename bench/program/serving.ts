import path from 'node:path';
import { type Client, createClient } from '@signalbox/client';
import type { RunId, RunStatus } from '@signalbox/model';
import { given } from '../../test/given.ts';
import { type NodeProcess, startNode } from './node-process.ts';

/** `signalbox serve` in a process of its own, and a client that hears how its runs do. */
export interface Serving {
  readonly client: Client;
  readonly server: NodeProcess;
  /** Starts a run of a plan file over REST; resolves once the server said that the run has such a status. */
  startUntil(file: string, isThere: (status: RunStatus) => boolean): Promise<RunId>;
  close(): Promise<void>;
}

export async function serve(
  program: string,
  cwd: string,
  { nodeArgs = [], env = {} }: { readonly nodeArgs?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Serving> {
  const { promise: listening, resolve: listens, reject } = Promise.withResolvers<string>();
  const args = [...nodeArgs, program, 'serve', '--port', '0', '--json', '--data-dir', path.join(cwd, 'data')];
  const server = startNode(args, { cwd, env, line: listens });
  void server.exit.then(() => reject(new Error('the server has ended')));
  const { url, page } = JSON.parse(await listening) as { readonly url: string; readonly page: string };
  const client = createClient({ url, token: page.split('#token=')[1] ?? '' });
  const statuses = new Map<RunId, RunStatus>();
  const waiting = new Map<RunId, () => void>();
  const { promise: live, resolve: isLive } = Promise.withResolvers<void>();
  const watch = client.watch('all', news => {
    if (news.kind === 'runs') isLive();
    if (news.kind !== 'run') return;
    statuses.set(news.run, news.summary.record.status);
    waiting.get(news.run)?.();
  });
  await live;
  return {
    client,
    server,
    async startUntil(file, isThere) {
      const { id } = given(await client.start({ file, anyFile: true, input: {} }));
      await new Promise<void>(resolve => {
        const look = () => {
          const status = statuses.get(id);
          if (status !== undefined && isThere(status)) resolve();
        };
        waiting.set(id, look);
        look();
      });
      waiting.delete(id);
      return id;
    },
    async close() {
      watch.close();
      process.kill(server.pid, 'SIGTERM');
      await server.exit;
    },
  };
}
