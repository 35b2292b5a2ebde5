import type { CollectReport } from '@signalbox/app/host';
import { type Paint, shown } from '../terminal.ts';
import { describeBytes } from './byte-count.ts';

/** What was or would be removed: one line per run, then other items, then the total. */
export function describeCollection(report: CollectReport, paint: Paint): readonly string[] {
  const { dryRun, policy, runs, collapsed, spared, bytes, blobsSpared } = report;
  const beside = [
    ['run folders', report.folders],
    ['workspaces', report.workspaces],
    ['guided sessions', report.sessions],
    ['blobs', report.blobs],
  ] as const;
  return [
    ...runs.map(
      ({ run, name, bytes: size }) => `${run}  ${shown(name)}  ${dryRun ? 'would go' : 'went'}, ${describeBytes(size)}`,
    ),
    ...collapsed.map(
      ({ run, name, frames, bytes: size }) =>
        `${run}  ${shown(name)}  ${frames} frames ${dryRun ? 'would go' : 'went'}, ${describeBytes(size)}`,
    ),
    ...beside
      .filter(([, { count }]) => count > 0)
      .map(([what, { count, bytes: size }]) => `${count} ${what}, ${describeBytes(size)}`),
    ...spared.map(({ run, why }) => paint.faint(`${run}  stays: ${WHY_SPARED[why]}`)),
    ...(blobsSpared === undefined ? [] : [paint.doubtful(`Blobs were skipped: ${shown(blobsSpared)}`)]),
    `${dryRun ? 'Would free' : 'Freed'} ${describeBytes(bytes)}. ${paint.faint(describePolicy(policy))}`,
  ];
}

const WHY_SPARED: Readonly<Record<CollectReport['spared'][number]['why'], string>> = {
  kept: 'marked as kept',
  forked: 'a fork needs it',
  journal: 'its journal does not match its log; verify it',
};

function describePolicy({ collapseAfterDays, removeAfterDays }: CollectReport['policy']): string {
  const after = (days: number | null) => (days === null ? 'never' : `after ${days} days`);
  return `Ended runs are collapsed ${after(collapseAfterDays)} and removed ${after(removeAfterDays)}.`;
}
