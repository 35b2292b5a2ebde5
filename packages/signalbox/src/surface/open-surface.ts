import { setTimeout as sleep } from 'node:timers/promises';
import { type Launch, readToken } from '@signalbox/app';
import {
  type ErrorEnvelope,
  type HomeOptions,
  type Machine,
  openHome,
  type Result,
  readOwner,
} from '@signalbox/app/runs';
import { ownPlanRoots } from '../serving/own-plan-roots.ts';
import { ownSurface } from './own-surface.ts';
import type { RunSurface } from './run-surface.ts';

/** How long an owner may take to announce its address; a command that runs alone has ended by then. */
const PATIENCE_MS = 3000;
const LOOK_MS = 50;

export interface SurfaceOptions {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly trace?: NonNullable<HomeOptions['trace']>;
  /** How long an agent's process waits for a person. */
  readonly parkMs?: number;
  /** Whether a run will be driven. */
  readonly warm?: boolean;
  readonly launch?: Launch;
}

/** Owns the data directory, or talks to the process that does. */
export async function openSurface(options: SurfaceOptions): Promise<Result<RunSurface, ErrorEnvelope>> {
  const { dataDirectory, machine, warm = false } = options;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const home = await openHome({ ...options, planRoots: ownPlanRoots(), threads: { warm } });
    if (home.ok) return { ok: true, value: ownSurface(home.value, dataDirectory, machine) };
    if (home.error.code !== 'store/owned') return home;
    const url = readOwner(dataDirectory)?.url;
    if (url !== undefined) {
      const token = readToken(dataDirectory);
      if (!token.ok) return token;
      const { remoteSurface } = await import('./remote-surface.ts');
      return remoteSurface(dataDirectory, { url, token: token.value });
    }
    if (waitedMs >= PATIENCE_MS) return home;
    await sleep(LOOK_MS);
  }
}
