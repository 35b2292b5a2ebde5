import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portableHasher } from '../digest.ts';
import { knownSecretOf, type SecretMac } from './known-secret.ts';
import { createSecretFilter, isCertainlyClean } from './secret-filter.ts';
import { createSecretStream } from './secret-stream.ts';
import { tokenShapes } from './token-shapes.ts';

const mac: SecretMac = text => portableHasher(`key ${text}`).slice('sha256:'.length);
const SECRET = ['tr0ub4dor', 'and', '3'].join('-');
const PHRASE = ['correct', 'horse', 'battery', 'staple'].join(' ');
const known = [knownSecretOf('DB_PASSWORD', SECRET, mac), knownSecretOf('PHRASE', PHRASE, mac)];
const filter = createSecretFilter({ known, mac });

const letters = 'Kq7ZpX2mWv9RtY4bNc8LdF5gHj3sQaE6uTiOoPwBxVzM1nCkDy0GfJhSrUeAlI';
const hex = '0123456789abcdef';
/** Characters that look random, the same every time. */
function some(length: number, alphabet = letters, step = 7): string {
  return Array.from({ length }, (_, at) => alphabet[(at * step + 3) % alphabet.length]).join('');
}

/** One token of each shape, put together so that this file holds none. */
const tokens: readonly (readonly [name: string, ...parts: readonly string[]])[] = [
  ['github token', 'ghp', '_', some(36)],
  ['github token', 'github', '_pat_', some(82)],
  ['gitlab token', 'glpat', '-', some(20)],
  ['anthropic key', 'sk-ant', '-api03-', some(93)],
  ['openai key', 'sk-proj', '-', some(120)],
  ['openrouter key', 'sk-or', '-v1-', some(64, hex)],
  ['api key', 'sk', '-', some(48)],
  ['aws access key', 'AKIA', some(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')],
  ['aws bedrock key', 'ABSK', some(120)],
  ['google api key', 'AIza', some(35)],
  ['google oauth token', 'ya29', '.', some(60)],
  ['google oauth secret', 'GOCSPX', '-', some(28)],
  ['slack token', 'xoxb', '-', some(12, '0123456789'), '-', some(24)],
  ['slack token', 'xapp', '-1-', some(40)],
  ['stripe key', 'sk_live', '_', some(24)],
  ['stripe webhook secret', 'whsec', '_', some(32)],
  ['npm token', 'npm', '_', some(36)],
  ['pypi token', 'pypi', '-AgE', some(80)],
  ['hugging face token', 'hf', '_', some(34)],
  ['groq key', 'gsk', '_', some(52)],
  ['xai key', 'xai', '-', some(80)],
  ['perplexity key', 'pplx', '-', some(48)],
  ['replicate token', 'r8', '_', some(37)],
  ['langsmith key', 'lsv2', '_pt_', some(32, hex), '_', some(10, hex)],
  ['tavily key', 'tvly', '-', some(32)],
  ['sendgrid key', 'SG', '.', some(22), '.', some(43)],
  ['mailgun key', 'key', '-', some(32, hex)],
  ['twilio key', 'SK', some(32, hex)],
  ['digitalocean token', 'dop', '_v1_', some(64, hex)],
  ['shopify token', 'shpat', '_', some(32, hex)],
  ['databricks token', 'dapi', some(32, hex)],
  ['docker token', 'dckr', '_pat_', some(27)],
  ['vault token', 'hvs', '.', some(90)],
  ['linear key', 'lin', '_api_', some(40)],
  ['notion token', 'ntn', '_', some(46)],
  ['postman key', 'PMAK', '-', some(24, hex), '-', some(34, hex)],
  ['figma token', 'figd', '_', some(40)],
  ['atlassian token', 'ATATT3', some(180)],
  ['sentry token', 'sntryu', '_', some(64, hex)],
  ['grafana token', 'glsa', '_', some(32), '_', some(8, hex)],
  ['new relic key', 'NRAK', '-', some(27, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')],
  ['supabase key', 'sb', '_secret_', some(31)],
  ['netlify token', 'nfp', '_', some(36)],
  ['fly token', 'fm2', '_', some(120)],
  ['doppler token', 'dp', '.pt.', some(43)],
  ['1password token', 'ops', '_eyJ', some(200)],
  ['pulumi token', 'pul', '-', some(40, hex)],
  ['rubygems key', 'rubygems', '_', some(48, hex)],
  ['planetscale password', 'pscale', '_pw_', some(43)],
  ['square token', 'sq0atp', '-', some(22)],
  ['airtable token', 'pat', some(14), '.', some(64, hex)],
  ['mapbox token', 'sk', '.eyJ', some(60), '.', some(22)],
  ['dynatrace token', 'dt0c01', '.', some(24, 'ABCDEFGHIJ234'), '.', some(64, 'ABCDEFGHIJ234')],
  ['contentful token', 'CFPAT', '-', some(43)],
  ['age key', 'AGE-SECRET', '-KEY-1', some(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')],
  ['signalbox token', 'sbx', '_', some(43)],
  ['signalbox token', 'tab', '.1800000000000.', some(22), '.', some(64, hex)],
  ['json web token', 'eyJ', some(20), '.eyJ', some(60), '.', some(43)],
];

/** Shapes of which only a part is secret: what stays of the text is given too. */
const within: readonly (readonly [name: string, before: string, secret: string, after: string])[] = [
  ['slack webhook', 'https://hooks.slack.com/', `services/T${some(10)}/B${some(10)}/${some(24)}`, ' now'],
  ['discord webhook', 'https://discord.com/api/webhooks/', `${some(18, '0123456789')}/${some(68)}`, ' now'],
  ['telegram bot token', '123456789:', `AA${some(33)}`, ' now'],
  ['azure storage key', 'AccountName=x;AccountKey=', `${some(86)}==`, ';'],
  ['aws secret key', '[default]\naws_secret_access_key = ', some(40), '\nregion = x'],
  ['aws secret key', 'export AWS_SECRET_ACCESS_KEY=', some(40), ' now'],
  ['aws secret key', '{"SecretAccessKey": "', some(40), '"}'],
  ['aws session token', 'aws_session_token=', some(300), '\n'],
  ['azure shared key', 'SharedAccessKeyName=x;SharedAccessKey=', `${some(43)}=`, ';'],
  ['connection password', 'Server=tcp:h;User ID=a;Password=', some(14), ';Encrypt=true'],
  ['azure client secret', 'secret=abc', `8Q~${some(34)}`, ' now'],
  ['terraform token', `${some(14)}.atlasv1.`, some(67), ' now'],
  [
    'private key',
    'key: ',
    `-----BEGIN RSA PRIVATE KEY-----\n${some(64)}\n${some(64)}\n-----END RSA PRIVATE KEY-----`,
    '\n',
  ],
  ['bearer token', 'Authorization: Bearer ', some(40), '\n'],
  ['basic credentials', 'Authorization: Basic ', `${some(24)}==`, '\n'],
  ['url password', 'postgres://app:', some(9), '@db.example/app'],
  ['url password', 'postgres:\\/\\/app:', some(9), '@db.example\\/app'],
  ['url password', '/log-in?to=https%3A%2F%2Fada%20l%3A', `${some(9)}%21${some(3)}`, '%40example.org%2Fx'],
];

describe('the secret filter', () => {
  it('[M80] knows of a secret no more than a few keyed bits', () => {
    const [first] = known;
    expect(first).toEqual({
      name: 'DB_PASSWORD',
      length: SECRET.length,
      anchor: expect.any(Number),
      check: expect.any(Number),
      mac: mac(SECRET),
    });
    expect(JSON.stringify(known)).not.toContain(SECRET.slice(0, 4));
    const other = knownSecretOf('DB_PASSWORD', SECRET, text => mac(`other ${text}`));
    expect([other.anchor, other.check]).not.toEqual([first?.anchor, first?.check]);
  });

  it('[M81] replaces what is known, in texts, keys and values', () => {
    expect(filter.text(`a ${SECRET}${SECRET} b`)).toBe('a [redacted: DB_PASSWORD][redacted: DB_PASSWORD] b');
    expect(filter.data({ [SECRET]: [1, { deep: `x${SECRET}` }, null], other: true })).toEqual({
      '[redacted: DB_PASSWORD]': [1, { deep: 'x[redacted: DB_PASSWORD]' }, null],
      other: true,
    });
    expect(filter.has(`a ${SECRET}`)).toBe(true);
    expect(filter.has(SECRET.slice(1))).toBe(false);
  });

  it('[M81] replaces all of what overlaps', () => {
    const long = `${SECRET}-and-more`;
    const both = createSecretFilter({ known: [...known, knownSecretOf('LONG', long, mac)], mac });
    expect(both.text(`${long} ${SECRET}`)).toBe('[redacted: LONG] [redacted: DB_PASSWORD]');
    const tail = createSecretFilter({ known: [...known, knownSecretOf('TAIL', '-and-3xyz', mac)], mac });
    expect(tail.text(`${SECRET}xyz`)).toBe('[redacted: DB_PASSWORD]');
    expect(filter.text(`postgres://app:${SECRET}@db`)).toBe('postgres://app:[redacted: DB_PASSWORD]@db');
  });

  it('[M86] data with a secret in a key or a value is never taken for clean at a glance', () => {
    const texts = [
      ...[SECRET, PHRASE, ...tokens.map(([, ...parts]) => parts.join(''))],
      ...within.map(([, ...parts]) => parts.join('')),
    ];
    for (const text of texts.flatMap(one => [one, `so ${one}`, `${one} it is`])) {
      for (const value of [{ a: text }, { [text]: 1 }, { a: [0, { b: text, c: 'next' }] }, [text, text]]) {
        expect([value, isCertainlyClean(filter, value)]).toEqual([value, filter.data(value) === value]);
      }
    }
    expect(isCertainlyClean(filter, { a: ['plain', 1, null], b: { c: 'text' } })).toBe(true);
    expect(isCertainlyClean(filter, { a: 1n })).toBe(false);
  });

  it.each(tokens)('[M82] recognises a token by its shape: %s', (name, ...parts) => {
    const token = parts.join('');
    expect(filter.text(`x="${token}" y`)).toBe(`x="[redacted: ${name}]" y`);
    expect(filter.text(token)).toBe(`[redacted: ${name}]`);
  });

  it.each(within)('[M82] replaces the secret part of a shape: %s', (name, before, secret, after) => {
    expect(filter.text(before + secret + after)).toBe(`${before}[redacted: ${name}]${after}`);
  });

  it('[M82] has an example of every shape', () => {
    const shown = new Set([...tokens, ...within].map(([name]) => name));
    expect([...new Set(tokenShapes.map(({ name }) => name))].filter(name => !shown.has(name))).toEqual([]);
  });

  it('[M82] leaves alone what only looks like one', () => {
    const plain = [
      '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
      `sha256:${some(64, hex)}`,
      '2026-11-16T17:00:00.000Z',
      'task-0123456789-task-0123456789-task-0123456789',
      'sk-loading-spinner-container-wrapper-inner',
      'patterns.path/patch.patience',
      'https://example.com:8080/a?b=c@d',
      'https://user@example.com/x',
      '/go?to=https%3A%2F%2Fexample.com%3A8080%2Fa%40b',
      '/go?to=https%3A%2F%2Fuser%40example.com%2Fx',
      'the Bearer of the ring', // prose
      'BEGIN TRANSACTION; SELECT 1; COMMIT;',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      `AKIA${'IOSFODNN7'}EXAMPLE`,
      ['postgres://app:', '$', '{PASSWORD}@db'].join(''),
      'a basic introduction',
      'aws_secret_access_key = <your key>',
      'set AWS_SECRET_ACCESS_KEY=$KEY first',
      'const Password=form.password; const x = 1',
      'npm_config_cache=/home/x/.npm',
    ];
    for (const text of plain) expect(filter.text(text)).toBe(text);
  });

  it('[M83] changes nothing that it filtered before, and returns what has no secret as it is', () => {
    const piece = fc.oneof(
      fc.constantFrom(SECRET, PHRASE, ' ', '://a:', '@', 'Bearer ', 'sk-', '"', '-----BEGIN ', '[redacted: ', ']'),
      fc.constantFrom(...tokens.map(([, ...parts]) => parts.join(''))),
      fc.string({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
        const once = filter.text(pieces.join(''));
        expect(filter.text(once)).toBe(once);
        expect(once).not.toContain(SECRET);
      }),
      { seed: 7, numRuns: 500 },
    );
    const value = { a: ['plain text', { b: 12, c: null }], d: 'other words' };
    expect(filter.data(value)).toBe(value);
  });

  it('[M84] recognises secrets in pieces, wherever they are cut', () => {
    const jwt = `eyJ${some(30)}.eyJ${some(40)}.${some(43)}`;
    const text = `It said ${SECRET}, then "${PHRASE}" and ${jwt} to https://me:${some(12)}@host/x. Authorization: Bearer ${some(40)} done\naws_secret_access_key = ${some(40)}\nServer=h;Password=${some(12)};x`;
    const whole = filter.text(text);
    expect(whole).not.toMatch(/tr0ub4|horse|eyJ/);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 200 }), sizes => {
        const stream = createSecretStream(filter);
        let out = '';
        let from = 0;
        for (let at = 0; from < text.length; at++) {
          const size = sizes[at % sizes.length] as number;
          out += stream.push(text.slice(from, from + size));
          from += size;
        }
        expect(out + stream.end()).toBe(whole);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it('[M84] holds ordinary words back by no more than three characters', () => {
    const stream = createSecretStream(filter);
    expect(stream.push('Ordinary words ')).toBe('Ordinary wor');
    expect(stream.push('flow on.')).toBe('ds flow ');
    expect(stream.end()).toBe('on.');
  });
});
