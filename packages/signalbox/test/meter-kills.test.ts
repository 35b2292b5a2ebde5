import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { echoPrompt, startModelServer } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sampled } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { ECHO, openMeteredHost } from './metered-host.ts';
import { livingIn, realFolder } from './real-host.ts';

const USAGE = { input: 30, output: 70 };
const PLAN = `import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'calls',
  state: z.object({ said: z.any() }),
  render: ctx => (
    <Agent id="agent" plugin="echo" cwd="work" permissions="skip" prompt={${JSON.stringify(
      echoPrompt([
        { do: 'callModel', times: 2 },
        { do: 'say', text: '.' },
      ]),
    )}}
      onFinished={said => ctx.state.set('said', said)} />
  ),
});
`;
/** Events of the stream of one answer, and one moment more: nothing was sent of it yet. */
const MOMENTS = Array.from({ length: 2 * 9 }, (_, at) => at);

it.skipIf(!hasLayers)('[A1103] every call is counted once, whenever our process is killed', async () => {
  for (const moment of sampled(MOMENTS, 2)) {
    const folder = realFolder();
    const plan = path.join(folder, 'calls.tsx');
    fs.writeFileSync(plan, PLAN);
    let passed = 0;
    let kill = () => {};
    const pace = async () => {
      if (passed++ === moment) kill();
    };
    const model = await startModelServer(() => ({ text: ['a', 'b'], usage: USAGE }), { maxCalls: 50, pace });
    try {
      const program = childScript(import.meta.dirname, 'metered-host-child.ts');
      const child = spawn(process.execPath, [program, folder, model.url, plan], { stdio: 'inherit' });
      kill = () => child.kill('SIGKILL');
      await new Promise(resolve => child.once('exit', resolve));
      kill = () => {};

      const { host, store, close } = await openMeteredHost({ folder, agent: ECHO, model: model.url });
      const [run] = (await store.runs()).items;
      if (run === undefined) throw new Error('the run was not started');
      if (run.status !== 'completed') await host.resume(run.id, { anyFile: true });
      const end = await host.finished(run.id);
      const events = (await store.events(run.id, 0, 10_000)).map(({ event }) => event);
      const callsOf = (type: string) =>
        events.flatMap(event => (event.type === type ? [(event as { call: string }).call] : []));
      const lost = events.filter(event => event.type === 'model.answered' && event.outcome === 'lost').length;
      const begun = callsOf('model.called');
      expect({ moment, status: end?.status ?? run.status, lost: lost <= 1 }).toEqual({
        moment,
        status: 'completed',
        lost: true,
      });
      expect([new Set(begun).size, callsOf('model.answered').toSorted()]).toEqual([begun.length, begun.toSorted()]);
      expect(
        callsOf('usage.recorded')
          .filter(call => begun.includes(call))
          .toSorted(),
      ).toEqual(begun.toSorted());
      const { outputTokens } = await store.usageOfTree(run.id);
      // A lost call counts with all that it might have answered.
      expect(outputTokens).toBe((begun.length - lost) * USAGE.output + lost * 100);
      await close();
      expect(livingIn(folder)).toEqual([]);
    } finally {
      await model.close();
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    }
  }
});
