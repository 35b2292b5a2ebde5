import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, longest first: begun last, each would be waited for alone. Vitest knows how long files took from earlier runs, which
 * a fresh clone has none of.
 */
const LONGEST: readonly string[] = [
  'packages/state/test/ordinary-user.test.ts',
  'packages/adapters/test/real-agents.test.ts',
  'packages/app/test/crash.test.ts',
  'test/browser/console-live.test.ts',
  'test/browser/pages-live.test.ts',
  'packages/signalbox/test/owners.test.ts',
  'packages/signalbox/test/examples.test.ts',
  'packages/signalbox/test/signals.test.ts',
  'packages/store/test/tampering.test.ts',
  'packages/app/test/tampering.test.ts',
  'packages/state/test/layer-crash.test.ts',
  'packages/app/test/hostile-plans.test.ts',
  'test/package.test.ts',
  'packages/app/test/full-disk.test.ts',
  'packages/signalbox/test/runs.test.ts',
  'packages/signalbox/test/full-disk.test.ts',
  'packages/signalbox/test/read-only-data.test.ts',
  'packages/signalbox/test/program.test.ts',
  'packages/signalbox/test/private-modes.test.ts',
  'test/browser/run-page.test.ts',
  'test/browser/console.test.ts',
  'packages/journal/test/power-loss.test.ts',
  'packages/signalbox/test/rebuilt-answers.test.ts',
  'packages/server/test/ends.test.ts',
  'packages/adapters/test/acp-faults.test.ts',
  'packages/app/test/stuck-plans.test.ts',
  'packages/app/test/run-host.test.ts',
  'packages/app/test/unknown-outcome.test.ts',
  'packages/app/test/owner-death.test.ts',
  'packages/journal/test/kill.test.ts',
  'packages/signalbox/test/operator-mcp.test.ts',
  'packages/app/test/plan-versions.test.ts',
  'packages/app/test/rebuild.test.ts',
  'packages/app/test/redact/redact.test.ts',
  'packages/store/test/repair.test.ts',
  'packages/signalbox/test/repair.test.ts',
  'packages/signalbox/test/mcp-inspector.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex(file => moduleId.endsWith(`/${file}`));
      return at < 0 ? LONGEST.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
