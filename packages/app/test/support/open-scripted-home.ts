import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { onTestFinished } from 'vitest';
import { openHome } from '../../src/host/open-home.ts';
import { thisMachine } from '../../src/machine.ts';
import { testHostOf } from './open-host.ts';

/** A key that must be nowhere in what is kept. */
export const MODEL_KEY = 'sk-secret-key';

/** A home in `folder`, closed when the test ends. It can be closed before. */
export async function openTestHome(
  folder: string,
  options: Pick<Parameters<typeof openHome>[0], 'env' | 'resumeOnAnswer'>,
) {
  const home = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    threads: { threads: 1 },
    ...options,
  });
  if (!home.ok) throw new Bug(home.error.message);
  const { host, owned, close } = home.value;
  let closing: Promise<void> | undefined;
  const closeOnce = () => (closing ??= close());
  onTestFinished(closeOnce);
  return testHostOf(folder, host, owned.store, closeOnce);
}

/** A home whose agents talk to a model server that answers by a script, and work in `work`. */
export async function openScriptedHome(folder: string, script: ModelScript, resumeOnAnswer = true) {
  const work = path.join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const env = { ANTHROPIC_API_KEY: MODEL_KEY, ANTHROPIC_BASE_URL: server.url };
  return { server, work, ...(await openTestHome(folder, { env, resumeOnAnswer })) };
}
