import { fileURLToPath } from 'node:url';

/** A run of a bundle whose every frame came out again. */
export interface VerifiedRun {
  readonly run: string;
  /** The name of its plan. */
  readonly name: string;
  readonly frames: number;
}

export interface VerifyReplayOptions {
  /** The file of a plan to replay the run with, instead of the files that the run kept: does it still make the same frames? */
  readonly plan?: string | URL;
  /**
   * The bundle is your own, or its author is trusted: the plan in it is run in this process's place. Without it, that plan is run in
   * a confined process, and not at all where there is no sandbox.
   */
  readonly trust?: boolean;
}

/**
 * For tests: makes the frames of an exported run again, and those of its sub-plans, from what the bundle holds. No work is
 * done and no effect is run; no key and no network is used. Answers with the runs, or throws an error that says which frame
 * came out otherwise, in what, and which file and line made it.
 */
export async function verifyReplay(
  bundle: string | URL,
  { plan, trust }: VerifyReplayOptions = {},
): Promise<readonly VerifiedRun[]> {
  const loaded = (await import(new URL(ENTRY, import.meta.url).href)) as { readonly replayBundle: ReplayBundle };
  return loaded.replayBundle(pathOf(bundle), plan && pathOf(plan), trust);
}

/** Types are stripped where the sources run; the built package has its own entry beside it. */
const ENTRY = import.meta.url.endsWith('.ts') ? './replay-bundle.ts' : './replay-bundle.js';

/** Throws where a frame came out otherwise. */
export type ReplayBundle = (
  file: string,
  plan: string | undefined,
  trust: boolean | undefined,
) => Promise<readonly VerifiedRun[]>;

function pathOf(file: string | URL): string {
  return file instanceof URL || file.startsWith('file:') ? fileURLToPath(file) : file;
}
