import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PATTERN_MAX_PLACES, testPattern } from './pattern-match.ts';
import { PATTERN_MAX_LENGTH } from './pattern-syntax.ts';

describe('testPattern', () => {
  const agreed: readonly (readonly [source: string, flags: string, texts: readonly string[]])[] = [
    ['', '', ['', 'a']],
    ['a|b|', '', ['', 'c']],
    ['^ab*c+d?$', '', ['ac', 'abbc', 'ad', 'abbccd', 'xac']],
    ['Finding \\d+:.*severity:(high|medium|low)', '', ['Finding 12: x severity:low', 'Finding : severity:low']],
    ['Finding \\d+:.*severity', '', ['Finding 1:\nseverity', 'Finding 1: severity']],
    ['a.c', 's', ['a\nc', 'ac']],
    ['^b$', 'm', ['a\nb\nc', 'ab', 'b\u2028']],
    ['^b$', '', ['a\nb\nc', 'b']],
    ['[a-c\\]\\d]{2,3}x', '', ['a]x', 'ax', '12cx', 'abcabx']],
    ['[^a-c]', 'i', ['A', 'D', '']],
    ['stra(ss|ß)e', 'i', ['STRASSE', 'Straße']],
    ['\\bcat\\b', '', ['a cat.', 'concat', 'cat']],
    ['\\Bcat', '', ['concat', 'cat']],
    ['(?=.*\\d)(?=.*[a-z]).{4,}', '', ['abc1', 'abcd', '1a']],
    ['^(?!.*TODO).*$', '', ['all done', 'a TODO b']],
    ['(?<=\\$)\\d+', '', ['costs $5', 'costs 5']],
    ['(?<!\\$)\\b\\d+', '', ['costs $5', 'costs 5']],
    ['(?=a(?!b)).', '', ['ab', 'ac', 'b']],
    ['(?<=(?=ab)a)b', '', ['ab', 'ac']],
    ['(?<name>x)+y', '', ['xxy', 'y']],
    ['x{2}', '', ['x', 'xx']],
    ['x{2,}?z', '', ['xz', 'xxxz']],
    ['x{,3}', '', ['x{,3}', 'xxx']],
    ['a{', '', ['a{', 'a']],
    [']}', '', [']}', 'x']],
    ['\\u{1F600}', 'u', ['😀', 'u{1F600}']],
    ['^.$', 'u', ['😀', 'ab']],
    ['^.$', '', ['😀', 'a']],
    ['^😀{2}$', 'u', ['😀😀', '😀']],
    ['\\uD83D\\uDE00', 'u', ['😀', 'x']],
    ['\\p{Lu}\\P{Lu}', 'u', ['Ab', 'AB']],
    ['\\x41\\u0042\\cJ\\t\\0', '', ['AB\n\t\0', 'AB']],
    ['\\101', '', ['A', '101']],
    ['\\8', '', ['8', 'x']],
    ['[\\b]', '', ['\b', 'b']],
    ['(?:a*)*b', '', ['aaab', 'aaa']],
    ['(?:|a)+$', '', ['aaa', 'b']],
  ];

  it.each(agreed)('agrees with the platform on /%s/%s', (source, flags, texts) => {
    for (const text of texts) {
      expect([text, testPattern({ source, flags }, text)]).toEqual([
        text,
        { ok: true, value: new RegExp(source, flags).test(text) },
      ]);
    }
  });

  it('agrees with the platform on any pattern of small parts', () => {
    const leaf = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\b', '\\B', '^', '$', '\\n', '');
    const pattern = fc.letrec<{ tree: string }>(tie => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => a + b),
        fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(?:${a}|${b})`),
        fc
          .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,2}?', '*?'))
          .map(([a, many]) => `(?:${a})${many}`),
        fc.tuple(fc.constantFrom('?=', '?!', '?<=', '?<!'), tie('tree')).map(([look, a]) => `(${look}${a})`),
      ),
    })).tree;
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', ' '), maxLength: 7 });
    fc.assert(
      fc.property(pattern, fc.constantFrom('', 'm', 's', 'u', 'i'), text, (source, flags, subject) => {
        expect(testPattern({ source, flags }, subject)).toEqual({
          ok: true,
          value: new RegExp(source, flags).test(subject),
        });
      }),
      { numRuns: 3000 },
    );
  });

  it('[W150] ends on patterns that make a backtracking matcher hang', () => {
    const text = `${'a'.repeat(20_000)}!`;
    for (const source of [
      '(a+)+$',
      '(a|aa)+$',
      '(a|a)*b',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '(?=(a+)+$)x',
      '(?<!(a+)+)b',
    ]) {
      expect([source, testPattern({ source }, text)]).toEqual([source, { ok: true, value: false }]);
    }
  });

  it('[W150] refuses what costs too much, and says so', () => {
    expect(testPattern({ source: '(?:(?:a{100}){100}){100}' }, 'a')).toEqual({
      ok: false,
      error: { code: 'too_costly', reason: `the pattern has more than ${PATTERN_MAX_PLACES} places` },
    });
    expect(testPattern({ source: '(?:a?){2000}b' }, 'a'.repeat(300_000))).toMatchObject({
      ok: false,
      error: { code: 'too_costly' },
    });
    expect(testPattern({ source: '(?:){1000000000}' }, '')).toEqual({ ok: true, value: true });
    expect(testPattern({ source: 'a'.repeat(PATTERN_MAX_LENGTH + 1) }, '')).toMatchObject({
      ok: false,
      error: { code: 'unsupported' },
    });
  });

  it.each([
    ['(', '', 'invalid'],
    ['a', 'zz', 'invalid'],
    ['(a)\\1', '', 'unsupported'],
    ['(?<x>a)\\k<x>', '', 'unsupported'],
    ['(?i:a)', '', 'unsupported'],
    ['[a--b]', 'v', 'unsupported'],
    ['a', 'y', 'unsupported'],
  ])('[W150] names the fault of /%s/%s', (source, flags, code) => {
    expect(testPattern({ source, flags }, 'a')).toMatchObject({ ok: false, error: { code } });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (source, text) => {
        const answer = testPattern({ source }, text);
        if (answer.ok) expect(answer.value).toBe(new RegExp(source).test(text));
      }),
      { numRuns: 2000 },
    );
  });
});
