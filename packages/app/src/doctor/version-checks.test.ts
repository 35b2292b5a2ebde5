import { describe, expect, it } from 'vitest';
import { checkNode, checkSqlite } from './version-checks.ts';

describe('[A9] versions', () => {
  it.each([
    ['24.15.0', 'ok'],
    ['24.21.0', 'ok'],
    ['26.0.0', 'ok'],
    ['24.14.9', 'fail'],
    ['24.9.0', 'fail'],
    ['22.30.0', 'fail'],
  ])('of Node %s: %s', (version, status) => {
    expect(checkNode(version)).toMatchObject({ name: 'node', status, found: version });
  });

  it.each([
    ['3.51.3', 'ok'],
    ['3.53.0', 'ok'],
    ['4.0', 'ok'],
    ['3.51.2', 'fail'],
    ['3.9.9', 'fail'],
    ['unreadable', 'fail'],
  ])('of SQLite %s: %s', (version, status) => {
    expect(checkSqlite(version)).toMatchObject({ name: 'sqlite', status, found: version });
  });

  it('of what runs this test are good enough', () => {
    expect([checkNode(), checkSqlite()].map(check => check.status)).toEqual(['ok', 'ok']);
  });
});
