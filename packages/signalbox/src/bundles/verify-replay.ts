import { fileURLToPath } from 'node:url';

/** A run in a bundle whose frames were all reproduced. */
export interface VerifiedRun {
  readonly run: string;
  /** The name of its plan. */
  readonly name: string;
  readonly frames: number;
}

export interface VerifyReplayOptions {
  /** A plan file to replay the run with, instead of the run's own files: does it still make the same frames? */
  readonly plan?: string | URL;
  /**
   * The bundle is your own, or you trust its author: its plan runs with this process's rights. Without it, the plan runs in a
   * confined process, or not at all if there is no sandbox.
   */
  readonly trust?: boolean;
}

/**
 * For tests: reproduces the frames of an exported run and its sub-plans from the bundle. No task or effect runs, and no key
 * or network is used. Returns the runs, or throws an error that names the frame that differs, how, and the file and line
 * that made it.
 */
export async function verifyReplay(
  bundle: string | URL,
  { plan, trust }: VerifyReplayOptions = {},
): Promise<readonly VerifiedRun[]> {
  const loaded = (await import(new URL(ENTRY, import.meta.url).href)) as { readonly replayBundle: ReplayBundle };
  return loaded.replayBundle(pathOf(bundle), plan && pathOf(plan), trust);
}

/** In a checkout Node strips the types; the built package has its own entry next to it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './replay-bundle.ts' : './replay-bundle.js';

/** Throws if a frame differs. */
export type ReplayBundle = (
  file: string,
  plan: string | undefined,
  trust: boolean | undefined,
) => Promise<readonly VerifiedRun[]>;

function pathOf(file: string | URL): string {
  return file instanceof URL || file.startsWith('file:') ? fileURLToPath(file) : file;
}
