import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, longest first: begun last, each would be waited for alone. Vitest knows how long files took from earlier runs, which
 * a fresh clone has none of. The tests in a browser come first: commands that are made to fill the machine run after them.
 */
const LONGEST: readonly string[] = [
  'test/browser/console-live.test.ts',
  'test/browser/pages-live.test.ts',
  'test/browser/agents-live.test.ts',
  'test/browser/run-page.test.ts',
  'test/browser/console-day.test.ts',
  'test/browser/fleet-live.test.ts',
  'packages/adapters/test/real-agents.test.ts',
  'packages/signalbox/test/real-task.test.ts',
  'packages/signalbox/test/real-kills.test.ts',
  'packages/signalbox/test/real-clients.test.ts',
  'packages/signalbox/test/real-meter.test.ts',
  'test/browser/console.test.ts',
  'packages/state/test/ordinary-user.test.ts',
  'packages/app/test/crash.test.ts',
  'packages/signalbox/test/owners.test.ts',
  'packages/signalbox/test/examples.test.ts',
  'packages/signalbox/test/docs-site.test.ts',
  'packages/signalbox/test/handles.test.ts',
  'packages/signalbox/test/agents.test.ts',
  'packages/app/test/stuck-plans.test.ts',
  'packages/app/test/run-host.test.ts',
  'packages/signalbox/test/signals.test.ts',
  'packages/state/test/layer-crash.test.ts',
  'packages/server/test/mcp/conformance.test.ts',
  'packages/signalbox/test/program.test.ts',
  'packages/app/test/unknown-outcome.test.ts',
  'packages/app/test/forks.test.ts',
  'packages/signalbox/test/full-disk.test.ts',
  'test/package.test.ts',
  'packages/app/test/hostile-plans.test.ts',
  'packages/state/test/layer-deep.test.ts',
  'packages/signalbox/test/read-only-data.test.ts',
  'packages/adapters/test/acp-faults.test.ts',
  'packages/app/test/tampering.test.ts',
  'packages/signalbox/test/private-modes.test.ts',
  'packages/app/test/rollback.test.ts',
  'packages/server/test/plan-places.test.ts',
  'packages/server/test/ends.test.ts',
  'packages/app/test/acp-agents.test.ts',
  'packages/signalbox/test/repair.test.ts',
  'packages/store/test/repair.test.ts',
  'packages/signalbox/test/runs.test.ts',
  'packages/signalbox/test/rebuilt-answers.test.ts',
  'packages/signalbox/test/do.test.ts',
  'packages/signalbox/test/do-several.test.ts',
  'packages/signalbox/test/meter.test.ts',
  'packages/signalbox/test/run-bundles.test.ts',
  'packages/signalbox/test/echo-kills.test.ts',
  'packages/app/test/keep-one.test.ts',
  'packages/app/test/inner-calls.test.ts',
  'packages/app/test/plan-versions.test.ts',
  'packages/app/test/owner-death.test.ts',
  'packages/signalbox/test/operator-mcp.test.ts',
  'packages/signalbox/test/mcp-inspector.test.ts',
  'packages/journal/test/kill.test.ts',
  'packages/journal/test/power-loss.test.ts',
  'packages/store/test/tampering.test.ts',
  'packages/app/test/full-disk.test.ts',
  'packages/app/test/bundles.test.ts',
  'packages/state/test/hostile-commands.test.ts',
];

/** In the order in which they run: unit tests are short, and fill what is left at the end. */
const PROJECTS: readonly string[] = ['system', 'disk', 'unit'];

/** Workers keep their modules from one file to the next only within a project, so the files of each project run in one go. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const project = ({ project: { name } }: TestSpecification) => PROJECTS.indexOf(name);
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex(file => moduleId.endsWith(`/${file}`));
      if (at >= 0) return at;
      return moduleId.includes('/test/browser/') ? 0 : LONGEST.length;
    };
    return sorted.toSorted((a, b) => project(a) - project(b) || rank(a) - rank(b));
  }
}
