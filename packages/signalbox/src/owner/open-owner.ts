import { setTimeout as sleep } from 'node:timers/promises';
import { type Launch, readToken } from '@signalbox/app';
import {
  type ErrorEnvelope,
  type HomeOptions,
  type Machine,
  openHome,
  type Result,
  readOwner,
} from '@signalbox/app/host';
import { lazyMeterServer } from '../serving/meter-server.ts';
import { ownPlanRoots } from '../serving/own-plan-roots.ts';
import { lazyTurnServer } from '../serving/turn-server.ts';
import { localOwner } from './local-owner.ts';
import type { RunOwner } from './run-owner.ts';

/** How long an owner may take to announce its address; a command that runs alone has ended by then. */
const PATIENCE_MS = 3000;
const LOOK_MS = 50;

export interface OwnerOptions {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly trace?: NonNullable<HomeOptions['trace']>;
  /** How long an agent's process waits for a person. */
  readonly parkMs?: number;
  /** Whether a run will be driven. */
  readonly warm?: boolean;
  readonly launch?: Launch;
  /** To remove data: a full disk is no reason to refuse. */
  readonly makesRoom?: boolean;
}

/** Owns the data directory, or talks to the process that does. */
export async function openOwner(options: OwnerOptions): Promise<Result<RunOwner, ErrorEnvelope>> {
  const { dataDirectory, machine, warm = false } = options;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const turns = lazyTurnServer(machine.timers);
    const surfaces = { turns, meter: lazyMeterServer() };
    const home = await openHome({ ...options, planRoots: ownPlanRoots(), threads: { warm }, ...surfaces });
    if (home.ok) return { ok: true, value: localOwner(home.value, dataDirectory, machine) };
    if (home.error.code !== 'store/owned') return home;
    const url = readOwner(dataDirectory)?.url;
    if (url !== undefined) {
      const token = readToken(dataDirectory);
      if (!token.ok) return token;
      const { remoteOwner } = await import('./remote-owner.ts');
      return remoteOwner(dataDirectory, { url, token: token.value });
    }
    if (waitedMs >= PATIENCE_MS) return home;
    await sleep(LOOK_MS);
  }
}
