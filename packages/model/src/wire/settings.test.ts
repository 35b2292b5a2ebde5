import { describe, expect, it } from 'vitest';
import { refusal } from '../../test/refusal.ts';
import { keyReference, providerBrief, providerReference, wireProvider } from './providers.ts';
import { settingItem, settings } from './settings.ts';
import { serverMessage } from './socket.ts';
import { addedUser, addUserBody, rotateUserBody, userList, usersQuery } from './users.ts';

const at = '2026-01-01T00:00:00.000Z';
const reference = { name: 'acme', key: { name: 'ACME_API_KEY', isSet: true }, baseUrl: 'https://acme.example/v1' };
const provider = { ...reference, health: 'limited', waitsUntil: at, models: [], windows: [], failuresInRow: 2 };

describe('a provider', () => {
  it('[M63] has its key as a name and whether it is set: a value does not get through', () => {
    const leaked = { ...reference, key: { ...reference.key, value: 'sk-secret' }, apiKey: 'sk-secret' };
    expect(providerReference.parse(leaked)).toEqual(reference);
    expect(wireProvider.parse({ ...provider, ...leaked })).toEqual(provider);
    expect(refusal(keyReference, { name: 'ACME_API_KEY' })).not.toEqual([]);
  });

  it('[M64] is well, limited, failing or not known, and in short in what watchers are told', () => {
    const { name, health, waitsUntil } = provider;
    expect(serverMessage.parse({ kind: 'providers', providers: [provider] })).toEqual({
      kind: 'providers',
      providers: [{ name, health, waitsUntil }],
    });
    expect(refusal(providerBrief, { name, health: 'fine' })).not.toEqual([]);
    expect(refusal(providerBrief, { name, health, waitsUntil: 'soon' })).not.toEqual([]);
  });
});

describe('settings', () => {
  const item = { name: 'logs.level', about: 'x', applied: null, from: 'file', counts: 'at-once', needsRestart: false };

  it('[M65] tell a value that is null from one that cannot be read', () => {
    expect(settingItem.parse(item)).not.toHaveProperty('desired');
    expect(settingItem.parse({ ...item, desired: null })).toHaveProperty('desired', null);
    expect(refusal(settingItem, { ...item, counts: 'soon' })).not.toEqual([]);
  });

  it('[M63] have keys as references only', () => {
    const all = {
      startedAt: at,
      user: { name: 'operator', role: 'owner', isDefault: true },
      sources: [],
      items: [],
      needsRestart: false,
    };
    const parsed = settings.parse({
      ...all,
      tools: [],
      providers: [{ ...reference, key: { ...reference.key, value: 'x' } }],
    });
    expect(parsed.providers).toEqual([reference]);
  });
});

describe('users', () => {
  it('[M66] are asked for in pages and added by name, role and expiry; a list has no tokens', () => {
    expect(usersQuery.parse({ after: 'ada', limit: '5' })).toEqual({ after: 'ada', limit: 5 });
    for (const limit of ['0', '501', 'x', '1.5']) expect(refusal(usersQuery, { limit })).not.toEqual([]);
    expect(refusal(addUserBody, { name: 'ada', token: 'mine' })).not.toEqual([]);
    expect(refusal(addUserBody, { name: 'ada', role: 'root' })).not.toEqual([]);
    expect(refusal(addUserBody, { name: 'ada', expiresAt: 'soon' })).not.toEqual([]);
    expect(refusal(rotateUserBody, { role: 'owner' })).not.toEqual([]);
    const ada = { name: 'ada', role: 'viewer', addedAt: at, expiresAt: at };
    expect(userList.parse({ users: [{ ...ada, token: 'x', tokenDigest: 'y' }] })).toEqual({ users: [ada] });
    expect(addedUser.parse({ ...ada, token: 'x' })).toEqual({ ...ada, token: 'x' });
  });
});
