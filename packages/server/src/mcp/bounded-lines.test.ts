import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundedLines, type LineEnds } from './bounded-lines.ts';

function passed(chunks: readonly Buffer[], most: number) {
  const [lines, refused]: [Buffer[], LineEnds[]] = [[], []];
  const stream = boundedLines(most, ends => refused.push(ends)).on('data', line => lines.push(line));
  return new Promise<{ readonly lines: readonly string[]; readonly refused: readonly LineEnds[] }>(resolve => {
    stream.on('end', () => resolve({ lines: lines.map(String), refused }));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  });
}

it('passes complete lines, however they arrive', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(40)), async (texts, cuts) => {
      const lines = texts.map(text => `${text.replaceAll('\n', ' ')}\n`);
      let rest = Buffer.from(lines.join(''));
      const chunks = cuts.map(cut => {
        const chunk = rest.subarray(0, cut);
        rest = rest.subarray(cut);
        return chunk;
      });
      expect(await passed([...chunks, rest], 1_000_000)).toEqual({ lines, refused: [] });
    }),
  );
});

it('keeps only the ends of a line that is too long, and continues with the next', async () => {
  const long = Buffer.from(`{"head":1,${'x'.repeat(5_000_000)},"id":7}\n`);
  const chunks = Array.from({ length: Math.ceil(long.length / 65_536) }, (_, index) =>
    long.subarray(index * 65_536, (index + 1) * 65_536),
  );
  const { lines, refused } = await passed([Buffer.from('a\n'), ...chunks, Buffer.from('b\nc')], 1_000);
  expect(lines).toEqual(['a\n', 'b\n', 'c']);
  expect(refused).toEqual([
    { head: expect.stringMatching(/^\{"head":1,x{502}$/), tail: expect.stringMatching(/x,"id":7\}\n$/) },
  ]);
});
