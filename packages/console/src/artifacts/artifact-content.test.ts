import type { ArtifactKind } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { shownOf } from './artifact-content.ts';

const shown = (kind: ArtifactKind, content: string | Uint8Array, mimeType = 'application/json') =>
  shownOf({ kind, mimeType }, typeof content === 'string' ? new TextEncoder().encode(content) : content);

describe('an artifact', () => {
  it('[K36] is displayed by kind', () => {
    expect(shown('table', '{"columns":["a"],"rows":[{"a":1},7]}')).toEqual({
      kind: 'table',
      columns: ['a'],
      rows: [{ a: 1 }],
    });
    expect(shown('progress', '{"current":1,"total":3}')).toEqual({ kind: 'progress', current: 1, total: 3, label: '' });
    expect(shown('link', '{"url":"https://a.example/"}')).toMatchObject({ kind: 'link', label: 'https://a.example/' });
    expect(shown('markdown', '# x', 'text/markdown')).toEqual({ kind: 'markdown', text: '# x' });
    expect(shown('image', new Uint8Array([0xff, 0]), 'image/png')).toEqual({ kind: 'image' });
  });

  it('[K36] that does not fit its kind is text, and non-text is bytes', () => {
    expect(shown('table', '[1]').kind).toBe('text');
    expect(shown('progress', '{"current":"x"}').kind).toBe('text');
    expect(shown('link', '{"url":"javascript:alert(1)"}').kind).toBe('text');
    expect(shown('image', '<svg/>', 'image/svg+xml').kind).toBe('text');
    expect(shown('other', new Uint8Array([0xff, 0xfe, 0])).kind).toBe('bytes');
  });
});
