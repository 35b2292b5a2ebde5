import type { AppliedConfig, configOf } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

type Desired = ReturnType<typeof configOf>;

/** The desired configuration, the applied one, and whether a restart is needed. */
export function configReport({ config, hash }: Desired, applied: AppliedConfig | undefined) {
  const isRestartNeeded = applied !== undefined && applied.appliedConfigHash !== hash;
  return { desired: { configHash: hash, config }, applied: applied ?? null, isRestartNeeded };
}

export function describeConfig(desired: Desired, applied: AppliedConfig | undefined, paint: Paint): string {
  const lines = [
    `desired  ${desired.hash}`,
    ...desired.config.workflowPlaces.map(({ kind, directory }) => `           ${kind.padEnd(8)} ${shown(directory)}`),
  ];
  if (applied === undefined) return [...lines, 'applied  no server has started here'].join('\n');
  lines.push(`applied  ${applied.appliedConfigHash}  ${applied.appliedAt}`);
  const isSame = applied.appliedConfigHash === desired.hash;
  lines.push(
    isSame
      ? paint.good('They are the same.')
      : paint.doubtful('Restart the server to apply the desired configuration.'),
  );
  return lines.join('\n');
}
