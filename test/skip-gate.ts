import { readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * A reporter that fails a run with CI=true when a test was skipped, in whatever way, that `listFile` does not allow: an
 * array of `{"test": "<file> > <full name>", "reason": "…"}`, where `<file> > *` stands for all of a file. Elsewhere it is silent.
 */
export function skipGate(listFile: string): Reporter {
  return {
    onTestRunEnd(modules) {
      if (process.env.CI !== 'true') return;
      const { failures, warnings } = judgeSkips(modules.flatMap(skippedOf), allowedIn(listFile));
      for (const warning of warnings) console.warn(`skip gate: warning: ${warning}`);
      for (const failure of failures) console.error(`skip gate: ${failure}`);
      if (failures.length > 0) process.exitCode = 1;
    },
  };
}

const ALL = ' > *';

export interface AllowedSkip {
  readonly test: string;
  readonly reason: string;
}

/** The problems of a run that skipped these tests, and the entries that it did not need. */
export function judgeSkips(
  skipped: readonly string[],
  allowed: readonly AllowedSkip[],
): { readonly failures: readonly string[]; readonly warnings: readonly string[] } {
  const names = ({ test }: AllowedSkip, skip: string) =>
    test.endsWith(ALL) ? skip.startsWith(test.slice(0, -1)) : test === skip;
  return {
    failures: [
      ...skipped
        .filter(test => !allowed.some(entry => names(entry, test)))
        .map(test => `skipped and not listed: ${test}`),
      ...allowed.filter(entry => entry.reason.trim() === '').map(entry => `listed without a reason: ${entry.test}`),
    ],
    warnings: allowed
      .filter(entry => !skipped.some(test => names(entry, test)))
      .map(entry => `listed and not skipped: ${entry.test}`),
  };
}

/** Tests, and groups that are skipped as a whole and hold no test that could stand for them. */
function skippedOf(module: TestModule): readonly string[] {
  const emptyGroups = [...module.children.allSuites()].filter(
    suite => suite.children.size === 0 && ['skip', 'todo'].includes(suite.options.mode),
  );
  return [...module.children.allTests('skipped'), ...emptyGroups].map(
    task => `${module.relativeModuleId} > ${task.fullName}`,
  );
}

function allowedIn(listFile: string): readonly AllowedSkip[] {
  const list: unknown = JSON.parse(readFileSync(listFile, 'utf8'));
  if (!Array.isArray(list)) throw new Error(`${listFile} must hold an array`);
  return list.map((entry: Partial<AllowedSkip> | null) => ({
    test: String(entry?.test ?? ''),
    reason: String(entry?.reason ?? ''),
  }));
}
