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
}

/**
 * For tests: makes the frames of an exported run again, and those of its sub-plans, from what the bundle holds. No work is
 * done and no effect is run; no key and no network is used. Answers with the runs, or throws an error that says which frame
 * came out otherwise, in what, and which file and line made it.
 */
export async function verifyReplay(
  bundle: string | URL,
  { plan }: VerifyReplayOptions = {},
): Promise<readonly VerifiedRun[]> {
  const { thisMachine, verifyBundleReplay } = await import('@signalbox/app/runs');
  const verdict = await verifyBundleReplay(pathOf(bundle), {
    machine: thisMachine(),
    ...(plan === undefined ? {} : { plan: pathOf(plan) }),
  });
  if (!verdict.ok) throw new Error(`${verdict.error.message} ${verdict.error.suggestion}`);
  if (verdict.value.ok) return verdict.value.runs.map(({ run, name, frames }) => ({ run, name, frames }));
  const { describeVerdict } = await import('./replay-report.ts');
  const plainly = (text: string) => text;
  throw new Error(describeVerdict(verdict.value, { good: plainly, bad: plainly, doubtful: plainly } as never));
}

function pathOf(file: string | URL): string {
  return file instanceof URL || file.startsWith('file:') ? fileURLToPath(file) : file;
}
