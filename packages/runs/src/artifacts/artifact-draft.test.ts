import { type ArtifactId, deriveId, portableHasher, type RunId, utf8Bytes } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at } from '../../test/builders.ts';
import type { NodeKey } from '../ids.ts';
import { type ArtifactInput, artifactLimits, draftArtifact } from './artifact-draft.ts';
import { bytesOfBase64 } from './base64.ts';
import { imageType } from './image-type.ts';
import { keepArtifact } from './keep-artifact.ts';

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3);
const refusal = (input: ArtifactInput) => {
  const draft = draftArtifact(input);
  return draft.ok ? 'taken' : draft.error;
};

describe('an artifact that is given', () => {
  it.each<[ArtifactInput, object]>([
    [
      { kind: 'markdown', name: 'Notes', content: '# Ä' },
      { kind: 'markdown', name: 'Notes', mimeType: 'text/markdown', content: '# Ä' },
    ],
    [
      { kind: 'table', name: 'T', columns: ['a', 'b'], rows: [{ a: 1 }, {}], key: 't' },
      {
        kind: 'table',
        name: 'T',
        key: 't',
        mimeType: 'application/json',
        content: '{"columns":["a","b"],"rows":[{"a":1},{}]}',
      },
    ],
    [
      { kind: 'progress', name: 'P', current: 0, total: 0.5 },
      { kind: 'progress', name: 'P', mimeType: 'application/json', content: '{"current":0,"total":0.5}' },
    ],
    [
      { kind: 'link', name: 'L', url: `artifact://${deriveId<ArtifactId>('a')}` },
      {
        kind: 'link',
        name: 'L',
        mimeType: 'application/json',
        content: `{"url":"artifact://${deriveId<ArtifactId>('a')}"}`,
      },
    ],
    [
      { kind: 'image', name: 'I', data: PNG, alt: 'dots' },
      { kind: 'image', name: 'I', mimeType: 'image/png', alt: 'dots', content: PNG },
    ],
    [
      { kind: 'image', name: 'I', data: `data:text/html;base64,${Buffer.from(PNG).toString('base64')}` },
      { kind: 'image', name: 'I', mimeType: 'image/png', content: PNG },
    ],
  ])('[L48] has the content and the type of its kind: %j', (input, draft) => {
    expect(draftArtifact(input)).toEqual({ ok: true, value: draft });
  });

  it.each<[string, ArtifactInput]>([
    ['no name', { kind: 'markdown', name: '', content: 'x' }],
    ['a name that is too long', { kind: 'markdown', name: 'x'.repeat(257), content: 'x' }],
    ['an empty key', { kind: 'markdown', name: 'x', content: 'x', key: '' }],
    ['half a character', { kind: 'markdown', name: 'x', content: '\ud800' }],
    ['something else than text', { kind: 'markdown', name: 'x', content: 7 as never }],
    ['no columns', { kind: 'table', name: 'x', columns: [], rows: [] }],
    ['a column twice', { kind: 'table', name: 'x', columns: ['a', 'a'], rows: [] }],
    ['a row with more', { kind: 'table', name: 'x', columns: ['a'], rows: [{ b: 1 }] }],
    ['a row that is a list', { kind: 'table', name: 'x', columns: ['a'], rows: [[] as never] }],
    ['rows that are no data', { kind: 'table', name: 'x', columns: ['a'], rows: [{ a: (() => 1) as never }] }],
    ['progress that is no number', { kind: 'progress', name: 'x', current: Number.NaN, total: 1 }],
    ['progress of nothing', { kind: 'progress', name: 'x', current: 0, total: 0 }],
    ['a link to code', { kind: 'link', name: 'x', url: 'javascript:alert(1)' }],
    ['a link to a file', { kind: 'link', name: 'x', url: 'file:///etc/passwd' }],
    ['a link with a line', { kind: 'link', name: 'x', url: 'https://a\nb' }],
    ['a picture of nothing', { kind: 'image', name: 'x', data: new Uint8Array() }],
    ['a picture that is a page', { kind: 'image', name: 'x', data: utf8Bytes('<html><svg>') }],
    ['a data URL that is none', { kind: 'image', name: 'x', data: 'data:image/png,abc' }],
  ])('[L48] is refused by name: %s', (_, input) => {
    expect(refusal(input)).toMatchObject({ code: 'artifact/invalid' });
  });

  it('[L48] may take so much and no more', () => {
    const most = 'x'.repeat(artifactLimits.textBytes);
    expect(draftArtifact({ kind: 'markdown', name: 'x', content: most })).toMatchObject({ ok: true });
    expect(refusal({ kind: 'markdown', name: 'x', content: `${most}x` })).toMatchObject({
      code: 'artifact/too-large',
      details: { bytes: artifactLimits.textBytes + 1, most: artifactLimits.textBytes },
    });
    const picture = new Uint8Array(artifactLimits.imageBytes + 1);
    picture.set(PNG);
    expect(refusal({ kind: 'image', name: 'x', data: picture })).toMatchObject({ code: 'artifact/too-large' });
  });

  it('[L48] is taken from a data URL byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const text = Buffer.from(bytes).toString('base64');
        expect(bytesOfBase64(text)).toEqual(bytes);
        expect(bytesOfBase64(`${text}A`)).toBeUndefined();
      }),
    );
    expect(['====', 'A===', 'ab c', 'abc-'].map(bytesOfBase64)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('[L49] is what its bytes say, whatever it is called', () => {
    const svg = ['<svg/>', '<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg>', ' <SVG >'];
    expect(svg.map(text => imageType(utf8Bytes(text)))).toEqual(Array(3).fill('image/svg+xml'));
    const others = { 'GIF89a..': 'image/gif', RIFFxxxxWEBP: 'image/webp', '\0\0\0\x20ftypavif': 'image/avif' };
    for (const [text, type] of Object.entries(others)) expect(imageType(Buffer.from(text, 'latin1'))).toBe(type);
    expect([imageType(Uint8Array.of(0xff, 0xd8, 0xff)), imageType(utf8Bytes('plain'))]).toEqual([
      'image/jpeg',
      undefined,
    ]);
  });
});

describe('an artifact that is kept', () => {
  const place = { run: deriveId<RunId>('run'), node: 'n' as NodeKey };
  const id = deriveId<ArtifactId>('artifact');

  it('[L50] is a text of its row while it is small, and a blob otherwise; its event derives from its id', () => {
    const of = (content: string | Uint8Array) =>
      keepArtifact(
        id,
        { kind: 'markdown', name: 'x', mimeType: 'text/markdown', content },
        place,
        at(),
        portableHasher,
      );
    const [small, large, bytes] = [of('ä'.repeat(32_768)), of('ä'.repeat(32_769)), of(PNG)];
    expect([small.blob, small.record.content?.length, small.record.bytes]).toEqual([undefined, 32_768, 65_536]);
    expect([large.blob?.length, large.record.content]).toEqual([65_538, undefined]);
    expect([bytes.blob, bytes.record.digest]).toEqual([PNG, portableHasher(PNG)]);
    expect(large.event).toEqual(of('other').event);
    expect(small.event).toMatchObject({ type: 'artifact.created', artifact: { id, path: `artifact://${id}` } });
  });
});
