/** Owns a data directory and plays a scenario, answering as the script does, until it is killed or every agent is done. */

import { defaultFleetConfig } from '@signalbox/fleet';
import type { ProjectId } from '@signalbox/model';
import { openStore } from '@signalbox/store';
import { loadScenario } from '@signalbox/testkit';
import { mockFleet, mockServices } from '../../src/demo/fleet/mock-fleet.ts';
import { playScenario } from '../../src/demo/fleet/scenario.ts';
import { createFleetDesk } from '../../src/fleet/fleet-desk.ts';
import { openFleetHost } from '../../src/fleet/fleet-host.ts';
import { thisMachine } from '../../src/machine.ts';

const [file = '', project = ''] = process.argv.slice(2);
const opened = openStore({ path: file });
if (!opened.ok) throw new Error(opened.error.message);
const machine = thisMachine();
const scenario = loadScenario('david');
const crashRecovery = {
  autoRestart: true,
  autoRestartConditions: { minTrustScore: 0, maxConsecutiveCrashes: 10_000, cooldownMs: 0 },
  preferResumeOverRestart: true,
};
const host = await openFleetHost({
  project: project as ProjectId,
  log: opened.value,
  machine,
  filter: { data: value => value, has: () => false },
  config: { ...defaultFleetConfig, ticks: { intervalMs: 20, mode: 'wall_clock' }, crashRecovery },
  plugins: [mockFleet({ scenario, machine, speed: 10 })],
  services: mockServices(scenario),
  onFault: thrown => {
    throw thrown;
  },
});
const desk = createFleetDesk(host, opened.value, machine);
// What was acknowledged is said at once: the parent compares it with the log.
host.subscribe(message => {
  if (message.type === 'event') process.stdout.write(`event ${message.envelope.sourceEventId}\n`);
});
await playScenario(desk, { scenario }, machine.clock, 'ada');
process.stdout.write('playing\n');
while (desk.agents().some(({ status }) => status !== 'completed'))
  await new Promise(resolve => setTimeout(resolve, 20));
await host.close();
opened.value.close();
process.stdout.write('done\n');
