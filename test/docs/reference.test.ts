import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as signalbox from '../../packages/signalbox/src/index.ts';
import { generatedDocuments } from '../../scripts/generated-documents.ts';
import { anchorsIn, blocksIn } from './markdown.ts';

describe('[X159] the reference', () => {
  const page = async (name: string) => (await generatedDocuments[`docs/reference/${name}.md`]?.()) ?? '';

  it('has every export that a plan can use, with a declaration that parses', async () => {
    const api = await page('plan-api');
    const anchors = anchorsIn(api);
    const values = Object.keys(signalbox).filter(name => name !== 'verifyReplay');
    expect(values.filter(name => !anchors.has(name.toLowerCase()))).toEqual([]);
    for (const { text } of blocksIn(api)) {
      expect(() => transformSync(`declare namespace shown { ${text} }`, { loader: 'ts' }), text).not.toThrow();
    }
    expect(api).toMatch(/interface TaskProps<Output> extends Observable<Output> \{\n {2}\/\*\* The work\./);
    expect(api).toContain('const Timer: BuiltInComponent<TimerProps>;');
  });

  it('says something about every error, event and setting, once', async () => {
    for (const name of ['errors', 'events', 'configuration']) {
      const rows = [...(await page(name)).matchAll(/^\| `([^`]+)` \|(.+)\|$/gm)];
      expect(rows.length).toBeGreaterThan(20);
      expect(rows.filter(([, , rest = '']) => rest.split(' | ').some(cell => cell.trim() === ''))).toEqual([]);
      const keys = rows.map(([, key]) => key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });
});
