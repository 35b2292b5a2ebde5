import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import { anyString, plainData } from '../test/arbitraries.ts';
import { openObjects, refusal, requiredFields } from '../test/refusal.ts';
import { canonicalJson } from './canonical-json.ts';
import { DETAILS_MAX_BYTES, type ErrorEnvelope, errorCodes, errorEnvelope, failure, retry } from './error-envelope.ts';
import type { Json } from './json.ts';

const sample = {
  code: 'SESSION_LOCKED',
  message: 'session 1 is held by another process',
  retry: { kind: 'retryable_after_ms', afterMs: 250 },
  suggestion: 'call again',
  details: { attempts: 3, holder: { kind: 'mcp' } },
} as const;

const text = { message: 'what', suggestion: 'do this' };
const detailsOf = (details: Json) => failure('VALIDATION_ERROR', { ...text, details }).details;
const WITHHELD = '[withheld: a path or a time]';

const machineFacts = [
  '/srv/data/db.sqlite',
  '/srv',
  "ENOENT: no such file, open '/home/ann/x'",
  'cwd=/srv/app',
  'see:/etc/passwd',
  '~/notes.md',
  'in (~/notes.md)',
  'C:\\Users\\ann',
  'at D:/data/x',
  '\\\\server\\share',
  'file:///home/ann/x',
  '2026-01-01T00:00:00Z',
  'since 2026-01-01T00:00:00.000Z',
  '2026-01-01 12:30',
];

const harmless = [
  'events/00000000-00000003.jsonl',
  'https://example.org:443/a/b',
  'artifact://01900000-0000-7000-8000-000000000001',
  'application/json',
  'either / or',
  'data.phase: Invalid option',
  '#/properties/a',
  '2025-11-25',
  'sha256:e3b0',
  '12:30',
];

describe('codes', () => {
  it('[M22] are a closed set, each once', () => {
    const all = Object.values(errorCodes).flat();
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter(code => refusal(errorEnvelope, { ...sample, code }).length > 0)).toEqual([]);
    expect(refusal(errorEnvelope, { ...sample, code: 'SOMETHING_ELSE' })).toEqual(['code: invalid_value']);
  });

  it('[M22] have the token and import errors that the locks list', () => {
    expect([errorCodes.token, errorCodes.bundle]).toEqual([
      [
        'TOKEN_INVALID_FORMAT',
        'TOKEN_UNSUPPORTED_VERSION',
        'TOKEN_BAD_SIGNATURE',
        'TOKEN_SCOPE_MISMATCH',
        'TOKEN_UNKNOWN_NODE',
        'TOKEN_WORKFLOW_HASH_MISMATCH',
        'TOKEN_SESSION_LOCKED',
      ],
      [
        'BUNDLE_INVALID_FORMAT',
        'BUNDLE_UNSUPPORTED_VERSION',
        'BUNDLE_INTEGRITY_FAILED',
        'BUNDLE_MISSING_SNAPSHOT',
        'BUNDLE_MISSING_PINNED_WORKFLOW',
        'BUNDLE_EVENT_ORDER_INVALID',
        'BUNDLE_MANIFEST_ORDER_INVALID',
      ],
    ]);
  });

  it('[M22] start with the name of their domain', () => {
    const stray = Object.entries(errorCodes).flatMap(([domain, codes]) =>
      codes.filter(code => domain !== 'input' && !code.toLowerCase().startsWith(domain)),
    );
    expect(stray).toEqual([]);
  });
});

describe('the envelope', () => {
  it('[M23] is accepted whole and without details', () => {
    const { details: _, ...brief } = sample;
    expect([errorEnvelope.parse(sample), errorEnvelope.parse(brief)]).toEqual([sample, brief]);
    expect(requiredFields(errorEnvelope, sample)).toEqual(['code', 'message', 'retry', 'suggestion']);
  });

  it('[M23] has nothing else, and details are free-form', () => {
    expect(openObjects(errorEnvelope, sample)).toEqual(['details', 'details.holder']);
  });

  it('[M23] says something', () => {
    expect([
      refusal(errorEnvelope, { ...sample, message: '' }),
      refusal(errorEnvelope, { ...sample, suggestion: '' }),
    ]).toEqual([['message: too_small'], ['suggestion: too_small']]);
  });

  it('[M23] advises one of three things', () => {
    const kinds = [
      { kind: 'not_retryable' },
      { kind: 'retryable_immediate' },
      { kind: 'retryable_after_ms', afterMs: 0 },
    ];
    expect(kinds.map(kind => retry.parse(kind))).toEqual(kinds);
    expect([
      refusal(retry, { kind: 'later' }),
      refusal(retry, { kind: 'retryable_after_ms' }),
      refusal(retry, { kind: 'retryable_after_ms', afterMs: -1 }),
      refusal(retry, { kind: 'retryable_after_ms', afterMs: 1.5 }),
      refusal(retry, { kind: 'not_retryable', afterMs: 1 }),
    ]).toEqual([
      ['kind: invalid_union'],
      ['afterMs: invalid_type'],
      ['afterMs: too_small'],
      ['afterMs: invalid_type'],
      [': unrecognized_keys'],
    ]);
  });

  it('[M23] has one type, whether it was made or read', () => {
    expectTypeOf<z.infer<typeof errorEnvelope>>().toExtend<ErrorEnvelope>();
    expectTypeOf(failure('STORE_IO_FAILED', text).code).toEqualTypeOf<'STORE_IO_FAILED'>();
  });
});

describe('failure', () => {
  it('[M24] is not retryable unless it says so', () => {
    expect([
      failure('run/not-a-graph', text),
      failure('SESSION_LOCKED', { ...text, retry: { kind: 'retryable_immediate' }, details: { held: true } }),
    ]).toEqual([
      { code: 'run/not-a-graph', message: 'what', retry: { kind: 'not_retryable' }, suggestion: 'do this' },
      {
        code: 'SESSION_LOCKED',
        message: 'what',
        retry: { kind: 'retryable_immediate' },
        suggestion: 'do this',
        details: { held: true },
      },
    ]);
  });

  it('[M24] makes envelopes that the schema accepts, whatever the details', () => {
    const hostile = fc.oneof(
      plainData,
      fc.dictionary(anyString, fc.oneof(anyString, fc.double(), fc.constantFrom(...machineFacts))),
      fc.string({ minLength: DETAILS_MAX_BYTES, maxLength: DETAILS_MAX_BYTES + 10 }),
    );
    fc.assert(
      fc.property(hostile, details => {
        const envelope = failure('VALIDATION_ERROR', { ...text, details });
        expect(errorEnvelope.parse(envelope)).toEqual(envelope);
      }),
    );
  });
});

describe('details', () => {
  it.each(machineFacts)('[M25] withhold %s, in a text and in a key', fact => {
    expect(detailsOf({ kept: 'yes', list: [1, { deep: fact }], [fact]: 1 })).toEqual({
      kept: 'yes',
      list: [1, { deep: WITHHELD }],
      [WITHHELD]: 1,
    });
  });

  it.each(machineFacts)('[M25] with %s are refused by the schema', fact => {
    expect(
      [{ deep: [fact] }, { [fact]: 1 }, fact].map(details => refusal(errorEnvelope, { ...sample, details })),
    ).toEqual(Array(3).fill(['details: custom']));
  });

  it.each(harmless)('[M25] keep %s', value => {
    expect(detailsOf({ [value]: [value] })).toEqual({ [value]: [value] });
    expect(refusal(errorEnvelope, { ...sample, details: { [value]: value } })).toEqual([]);
  });

  it('[M26] stay within their budget of bytes', () => {
    const fits = 'é'.repeat((DETAILS_MAX_BYTES - 2) / 2);
    const over = `${fits}x`;
    expect(Buffer.byteLength(canonicalJson(fits))).toBe(DETAILS_MAX_BYTES);
    expect([detailsOf(fits), detailsOf(over)]).toEqual([fits, { omitted: '8193 bytes, more than 8192' }]);
    expect([
      refusal(errorEnvelope, { ...sample, details: fits }),
      refusal(errorEnvelope, { ...sample, details: over }),
    ]).toEqual([[], ['details: custom']]);
  });

  it('[M26] are measured as they are shown', () => {
    const paths = Array.from({ length: 500 }, () => '/a');
    expect(detailsOf(paths)).toEqual({ omitted: '15501 bytes, more than 8192' });
  });

  it('[M26] that are not plain data are left out', () => {
    expect([detailsOf({ a: Number.NaN }), detailsOf(['\ud800'])]).toEqual([
      { omitted: 'NaN is not a JSON number' },
      { omitted: 'a string has a lone surrogate' },
    ]);
  });
});
