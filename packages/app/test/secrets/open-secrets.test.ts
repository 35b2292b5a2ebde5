import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessToken } from '../../src/access-token.ts';
import { thisMachine } from '../../src/machine.ts';
import { openSecrets } from '../../src/secrets/open-secrets.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const VALUE = ['correct', 'horse/battery+staple', 'ü"42'].join('-');
const MARK = '[redacted: DOOR_PASSWORD]';

const textsIn = (folder: string) =>
  readdirSync(path.join(folder, 'keys')).map(name => readFileSync(path.join(folder, 'keys', name), 'latin1'));

describe('the secrets of a data directory', () => {
  it('[A240] are values of variables, by their names or by configuration, and passwords in addresses', () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ secrets: { variables: ['PLAIN'] } }));
    writeFileSync(path.join(folder, 'token'), 'x'.repeat(43));
    const env = {
      DOOR_PASSWORD: VALUE,
      PLAIN: 'value-of-plain',
      OTHER: 'value-of-other',
      DATABASE_URL: 'postgres://app:p%40ssword-1@db/app',
      SHORT_TOKEN: 'abc',
      WORD_SECRET: 'succeeded',
      MARK_TOKEN: 'redacted',
      GOOGLE_APPLICATION_CREDENTIALS: folder,
      PWD: '/somewhere/else',
    };
    const { filter, unusable } = openSecrets({ dataDirectory: folder, env });
    expect(filter.text(`${VALUE} value-of-plain value-of-other p@ssword-1 ${'x'.repeat(43)} ${folder}`)).toBe(
      `${MARK} [redacted: PLAIN] value-of-other [redacted: DATABASE_URL] [redacted: signalbox token] ${folder}`,
    );
    expect(filter.text('succeeded /somewhere/else redacted')).toBe('succeeded /somewhere/else redacted');
    expect(unusable).toEqual([
      { name: 'SHORT_TOKEN', why: 'it has fewer than 8 characters' },
      { name: 'WORD_SECRET', why: 'it is a word that every run has' },
      { name: 'MARK_TOKEN', why: 'it is part of the mark itself' },
    ]);
  });

  it('[A240] are the token of the data directory, also in a process that opened it before there was one', () => {
    const folder = temporaryFolder();
    const [first, second] = [0, 1].map(() => openSecrets({ dataDirectory: folder, env: {} }));
    const made = accessToken(folder, thisMachine());
    if (!made.ok) throw new Error(made.error.message);
    const { token, isNew } = made.value;
    expect(isNew).toBe(true);
    for (const { filter } of [first, second, openSecrets({ dataDirectory: folder, env: {}, readOnly: true })].flatMap(
      each => each ?? [],
    )) {
      expect(filter.text(`a ${token} b`)).toBe('a [redacted: signalbox token] b');
      expect(filter.has(Buffer.from(`x${token}`).toString('base64'))).toBe(true);
    }
    expect(accessToken(folder, thisMachine())).toEqual({ ok: true, value: { token, isNew: false } });
    expect(statSync(path.join(folder, 'token')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(folder, 'token')).nlink).toBe(1);
    expect(textsIn(folder).join('')).not.toContain(token);
  });

  it('[A241] are known to every later process, and are nowhere written', () => {
    const folder = temporaryFolder();
    openSecrets({ dataDirectory: folder, env: { DOOR_PASSWORD: VALUE } });
    openSecrets({ dataDirectory: folder, env: { DOOR_PASSWORD: VALUE, API_KEY: 'another-value' } });
    const size = textsIn(folder).join('').length;
    const later = openSecrets({ dataDirectory: folder, env: {} });
    expect(later.filter.text(`a ${VALUE} b another-value`)).toBe(`a ${MARK} b [redacted: API_KEY]`);
    // Known secrets are not written again.
    expect(textsIn(folder).join('')).toHaveLength(size);
    for (const name of readdirSync(path.join(folder, 'keys'))) {
      expect(statSync(path.join(folder, 'keys', name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(path.join(folder, 'keys')).mode & 0o777).toBe(0o700);
    expect(textsIn(folder).join('')).not.toMatch(/horse|another/);
    // Another directory has another key: the same secret leaves other traces.
    const elsewhere = temporaryFolder();
    const other = openSecrets({ dataDirectory: elsewhere, env: { DOOR_PASSWORD: VALUE } });
    const macs = new Set(later.shared.known.map(({ mac }) => mac));
    expect(other.shared.known.filter(({ mac }) => macs.has(mac))).toEqual([]);
  });

  it('[A241] are told by every process that adds some, and a line that was cut off costs itself alone', () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'keys'));
    openSecrets({ dataDirectory: folder, env: { A_TOKEN: 'value-of-first' } });
    const file = path.join(folder, 'keys', 'secrets.ndjson');
    writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n{"name":"TORN","len`);
    openSecrets({ dataDirectory: folder, env: { B_TOKEN: 'value-of-second' } });
    const { filter } = openSecrets({ dataDirectory: folder, env: {}, readOnly: true });
    expect(filter.text('value-of-first, value-of-second')).toBe('[redacted: A_TOKEN], [redacted: B_TOKEN]');
  });

  it('[A241] are known to a process that may not write, and to that one alone', () => {
    const folder = temporaryFolder();
    const { filter } = openSecrets({ dataDirectory: folder, env: { DOOR_PASSWORD: VALUE }, readOnly: true });
    expect(filter.text(VALUE)).toBe(MARK);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('[A242] are recognised however they are written', () => {
    const { filter } = openSecrets({ dataDirectory: temporaryFolder(), env: { DOOR_PASSWORD: VALUE } });
    const bytes = Buffer.from(VALUE);
    const written = [
      JSON.stringify({ door: VALUE }),
      JSON.stringify(JSON.stringify({ door: VALUE })),
      `https://x/?door=${encodeURIComponent(VALUE)}`,
      new URLSearchParams({ door: VALUE }).toString(),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('latin1'),
      ...[0, 1, 2, 3].flatMap(before => {
        const around = Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from('tail')]);
        return [around.toString('base64'), around.toString('base64url')];
      }),
    ];
    for (const text of written) expect(filter.text(text)).toContain(MARK);
    expect(filter.text(`{"door":${JSON.stringify(VALUE)}}`)).toBe(`{"door":"${MARK}"}`);
  });
});
