import path from 'node:path';
import {
  missingSandbox,
  openDemoDirectory,
  openUsers,
  startDemoModel,
  startShow,
  thingsToTry,
  writeShowAgent,
} from '@signalbox/app';
import { scenarioChoice } from '@signalbox/app/fleet-demo';
import { type ErrorEnvelope, thisMachine } from '@signalbox/app/host';
import { asked } from '../end-signals.ts';
import { handOver } from '../serving/handover.ts';
import { openBrowser } from '../serving/open-browser.ts';
import { openServing } from '../serving/open-serving.ts';
import { paintOf, type Terminal } from '../terminal.ts';

export interface LiveOptions {
  readonly directory: string | undefined;
  readonly port: number;
  readonly open: boolean;
  readonly json: boolean;
}

/** A person with their own token, so that their actions carry their name. */
const USER = 'ada';
/** Agents of a fleet: one conflicts with another, and some wait for the person. */
const SCENARIO = 'david';

/** Server, console and sample runs, until Ctrl-C. */
export async function playLive(
  terminal: Terminal,
  { directory, port, open, json }: LiveOptions,
  ending: AbortSignal,
): Promise<ErrorEnvelope | undefined> {
  const scenario = scenarioChoice(SCENARIO, 1);
  if (!scenario.ok) return scenario.error;
  const opened = openDemoDirectory(directory);
  if (!opened.ok) return opened.error;
  const place = opened.value;
  const data = path.join(place.path, 'data');
  const plans = path.join(place.path, 'plans');
  const machine = thisMachine();
  const model = await startDemoModel(machine.clock.now);
  // Only for this process, which ends with the demo.
  Object.assign(process.env, model.env);
  try {
    writeShowAgent(data);
    const missing = await missingSandbox();
    const serving = await openServing(terminal, {
      ...{ directory: data, port, planRoots: [plans] },
      scenario: scenario.value,
    });
    if (!serving.ok) return serving.error;
    const { url, host, guided, close } = serving.value;
    const page = serving.value.page();
    const added = openUsers(data, machine).add(USER, { role: 'operator' });
    const { timers } = machine;
    const show = added.ok
      ? await startShow({
          host,
          guided,
          timers,
          directory: plans,
          withAgent: missing === undefined,
          by: added.value.user.name,
        })
      : added;
    if (show.ok) {
      terminal.print(json ? JSON.stringify({ url, page }) : greeting(terminal, page, missing));
      const handover = open && terminal.screen !== undefined ? handOver(place.path, page) : undefined;
      if (handover !== undefined) openBrowser(handover.url);
      await asked(ending);
      handover?.close();
      await show.value.close();
    }
    await close();
    return show.ok ? undefined : show.error;
  } finally {
    await model.close();
    place.close();
  }
}

function greeting(terminal: Terminal, page: string, missing: string | undefined): string {
  const { strong, faint } = paintOf(terminal);
  return [
    `${strong('Open')} ${page}`,
    '',
    'One run works, two wait for you in the queue, one failed, one has a fork and an imported copy, one waits for a',
    'busy model, and an agent walks a workflow. The run tidy-readme shows an agent of its own program, over ACP.',
    'Three agents play a scenario: Fleet shows them, Controls their trust, the control mode and the brake.',
    ...leftOut(missing),
    '',
    strong('Try'),
    ...thingsToTry.map(thing => `  ${thing}`),
    '',
    faint('Ctrl-C ends it and leaves nothing behind.'),
  ].join('\n');
}

/** The demo's agents run no commands, so that it works without a sandbox. */
export function leftOut(missing: string | undefined): readonly string[] {
  if (missing === undefined) return [];
  return [
    '',
    `Not shown: agents' commands and programs. They are refused here: ${missing}. "signalbox doctor" says what to do.`,
  ];
}
