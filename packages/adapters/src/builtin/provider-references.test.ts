import { describe, expect, it } from 'vitest';
import { providerReferences } from './provider-references.ts';

const of = (name: string, variables: Record<string, string>) =>
  providerReferences(variables).find(reference => reference.name === name);

describe('a reference to a provider', () => {
  it('names the variable of the key and whether it is set, and the address that is used', () => {
    expect(of('anthropic', {})).toEqual({
      name: 'anthropic',
      key: { name: 'ANTHROPIC_API_KEY', isSet: false },
      baseUrl: 'https://api.anthropic.com/v1',
      baseUrlName: 'ANTHROPIC_BASE_URL',
    });
    expect(of('google', { GEMINI_API_KEY: 'AIza-secret', GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:7/' })).toEqual({
      name: 'google',
      key: { name: 'GEMINI_API_KEY', isSet: true },
      baseUrl: 'http://127.0.0.1:7/v1beta',
      baseUrlName: 'GOOGLE_GEMINI_BASE_URL',
    });
    expect(of('openai', { OPENAI_API_KEY: ' ' })?.key).toEqual({ name: 'OPENAI_API_KEY', isSet: false });
    expect(of('scripted', {})).toEqual({ name: 'scripted' });
  });

  it.each([
    'https://me:sesame@gate.example/v1',
    'https://sesame@gate.example/v1',
    'https://gate.example/v1?key=sesame',
    'https://gate.example/v1#sesame',
    'sesame',
    'javascript:sesame',
  ])('shows nothing of %s, which cannot be called', address => {
    expect(of('openai', { OPENAI_BASE_URL: address })?.baseUrl).toBe('not an address such as https://host/v1');
  });
});
