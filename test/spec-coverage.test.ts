import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './source-file.ts';
import { coverageProblems } from './spec-coverage/coverage-rules.ts';
import { testNamesOf } from './spec-coverage/test-names.ts';

/** Contract suites are plain modules, so every source file counts; this file only plays with made-up names. */
const isSpecOrTest = (file: string) =>
  /^packages\/[^/]+\/(SPEC\.md|(src|test)\/.*\.tsx?)$/.test(file) ||
  (/^(test|examples|bench)\/.*\.tsx?$/.test(file) && file !== 'test/spec-coverage.test.ts');

describe('this repository', () => {
  const files = readSources(isSpecOrTest);

  it('has a specification to cover', () => {
    expect(files.filter(file => file.path.endsWith('/SPEC.md')).length).toBeGreaterThan(0);
  });

  it('has a test for every rule, and a rule for every citation', () => {
    expect(coverageProblems(files)).toEqual([]);
  });
});

describe('coverageProblems', () => {
  const spec: SourceFile = {
    path: 'packages/model/SPEC.md',
    source: '# model\n\n- **M1** ids sort\n- **M2** ids are lower case, see **M1**\n\nAs **M7** said.\n',
  };
  const test = (...lines: readonly string[]): SourceFile => ({
    path: 'packages/model/src/ids.test.ts',
    source: lines.join('\n'),
  });

  it('finds nothing when rules and tests agree', () => {
    expect(
      coverageProblems([spec, test(`it('[M1] sorts', () => {});`, `it('[M2] is lower case', () => {});`)]),
    ).toEqual([]);
    expect(coverageProblems([spec, test(`it('[M1, M2] both', () => {});`)])).toEqual([]);
    expect(coverageProblems([spec, test(`describe('[M1][M2] both', () => { it('a', () => {}); });`)])).toEqual([]);
  });

  it('catches a rule that no test cites', () => {
    expect(coverageProblems([spec, test(`it('[M1] sorts', () => {});`)])).toEqual([
      'packages/model/SPEC.md:4: no test cites [M2]',
    ]);
  });

  it('catches a citation of no rule', () => {
    expect(coverageProblems([spec, test(`it('[M1, M2] both', () => {});`, `it('[M3] gone', () => {});`)])).toEqual([
      'packages/model/src/ids.test.ts:2: [M3] is a rule of no SPEC.md',
    ]);
  });

  it('catches an id that two rules share, over packages and within one', () => {
    const other = { path: 'packages/journal/SPEC.md', source: '- **M1** appends\n- **J1** reads\n- **J1** cuts\n' };
    expect(coverageProblems([spec, other, test(`it('[M1][M2][J1] all', () => {});`)])).toEqual([
      'packages/journal/SPEC.md:1: M1 is already a rule of packages/model/SPEC.md:3',
      'packages/journal/SPEC.md:3: J1 is already a rule of packages/journal/SPEC.md:2',
    ]);
  });

  it('does not count a test that is skipped, commented out or only mentioned', () => {
    const uncounted = test(
      `it.skip('[M1] sorts', () => {});`,
      `describe.todo('[M1] sorts');`,
      `// it('[M1] sorts', () => {});`,
      `const text = "it('[M1] sorts')";`,
      `expect('[M1]').toBe('[M1]');`,
      `it('[M2] is lower case', () => {});`,
    );
    expect(coverageProblems([spec, uncounted])).toEqual(['packages/model/SPEC.md:3: no test cites [M1]']);
  });
});

it('testNamesOf reads the written part of every form of a name', () => {
  const source = [
    `test('plain', () => {});`,
    `it(\`template \${1} tail\`, () => {});`,
    `it('joined ' + name, () => {});`,
    `it.each([1])('each %s', () => {});`,
    'it.each`a`("table $a", () => {});',
    `describe.skipIf(process.env.X)('condition', () => { it.concurrent('inside', () => {}); });`,
    `it.todo('later');`,
    `it(name, () => {});`,
    `other('no test', () => {});`,
    `regex.test('no test either');`,
  ].join('\n');
  expect(testNamesOf({ path: 'a.test.ts', source })).toEqual([
    { text: 'plain', runs: true, line: 1 },
    { text: 'template … tail', runs: true, line: 2 },
    { text: 'joined …', runs: true, line: 3 },
    { text: 'each %s', runs: true, line: 4 },
    { text: 'table $a', runs: true, line: 5 },
    { text: 'condition', runs: true, line: 6 },
    { text: 'inside', runs: true, line: 6 },
    { text: 'later', runs: false, line: 7 },
  ]);
});
