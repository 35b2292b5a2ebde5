import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { onTestFinished } from 'vitest';
import { thisMachine } from '../../src/machine.ts';
import { openHome } from '../../src/runs/open-home.ts';
import { testHostOf } from './open-host.ts';

/** A key that must be nowhere in what is kept. */
export const MODEL_KEY = 'sk-secret-key';

/** A home in `folder` whose agents talk to a model server that answers by a script, and work in `work`. */
export async function openScriptedHome(folder: string, script: ModelScript) {
  const work = path.join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const server = await startModelServer(script);
  const home = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    env: { ANTHROPIC_API_KEY: MODEL_KEY, ANTHROPIC_BASE_URL: server.url },
    resumeOnAnswer: true,
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Bug(home.error.message);
  const { host, owned, close } = home.value;
  let closing: Promise<void> | undefined;
  const closeOnce = () => (closing ??= close());
  onTestFinished(async () => {
    await closeOnce();
    await server.close();
  });
  return { server, work, ...testHostOf(folder, host, owned.store, closeOnce) };
}
