import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Assignment } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { assignmentOf } from '../../test/builders.ts';
import { readModelEnvironment } from './model-environment.ts';
import { createModelSource } from './model-source.ts';
import { LIST_PRICES, priceOf } from './prices.ts';

const all = {
  ANTHROPIC_API_KEY: 'key-of-anthropic',
  OPENAI_API_KEY: 'key-of-openai',
  GEMINI_API_KEY: 'key-of-google',
};

async function resolve(assignment: Partial<Assignment>, variables: Record<string, string | undefined> = all) {
  return createModelSource(readModelEnvironment(variables))(assignmentOf(assignment));
}

describe('the model of an assignment', () => {
  it.each([
    [{ model: 'anthropic:claude-x' }, 'anthropic', 'claude-x', 'anthropic.messages'],
    [{ model: 'openai:gpt-x' }, 'openai', 'gpt-x', 'openai.responses'],
    [{ model: 'openai-chat:local:7b' }, 'openai-chat', 'local:7b', 'openai.chat'],
    [{ model: 'google:gemini-x' }, 'google', 'gemini-x', 'google.generative-ai'],
    [{ model: 'claude-x' }, 'anthropic', 'claude-x', 'anthropic.messages'],
    [{ model: 'gpt-x' }, 'openai', 'gpt-x', 'openai.responses'],
    [{ model: 'o7' }, 'openai', 'o7', 'openai.responses'],
    [{ model: 'gemini-x' }, 'google', 'gemini-x', 'google.generative-ai'],
    [{ vendor: 'codex', model: 'anything' }, 'openai', 'anything', 'openai.responses'],
    [{ vendor: 'claude', model: 'openai:gpt-x' }, 'openai', 'gpt-x', 'openai.responses'],
  ] as const)('[B1] %j is %s %s', async (assignment, provider, model, sdk) => {
    const resolved = await resolve(assignment);
    expect(resolved).toMatchObject({
      ok: true,
      value: { name: { provider, model }, model: { modelId: model, provider: sdk } },
    });
  });

  it.each([
    ['claude', all, 'anthropic'],
    ['openai', all, 'openai'],
    ['codex', all, 'openai'],
    ['gemini', all, 'google'],
    ['any', all, 'anthropic'],
    ['any', { ...all, ANTHROPIC_API_KEY: undefined }, 'openai'],
    ['any', { GEMINI_API_KEY: 'key-of-google' }, 'google'],
    ['any', { GOOGLE_GENERATIVE_AI_API_KEY: 'key-of-google' }, 'google'],
  ] as const)('[B1] a node of %s has a default, of a known price', async (vendor, variables, provider) => {
    const resolved = await resolve({ vendor }, variables);
    if (!resolved.ok) throw new Error(resolved.error.message);
    expect(resolved.value.name.provider).toBe(provider);
    expect(priceOf(resolved.value.name, LIST_PRICES)).toBeDefined();
  });

  it.each([
    [{ model: 'anthropic:claude-x' }, 'ANTHROPIC_API_KEY'],
    [{ vendor: 'openai' }, 'OPENAI_API_KEY'],
    [{ vendor: 'gemini' }, 'GOOGLE_GENERATIVE_AI_API_KEY'],
    [{ vendor: 'any' }, 'ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY'],
  ] as const)('[B2] without a key %j says which variable to set', async (assignment, variable) => {
    const resolved = await resolve(assignment, { ANTHROPIC_API_KEY: ' ' });
    expect(resolved).toEqual({
      ok: false,
      error: { class: 'terminal', code: 'key-missing', message: expect.stringContaining(`Set ${variable} `) },
    });
    expect(resolved.ok ? '' : resolved.error.message).toContain('scripted:');
  });

  it.each(['mistral:large', 'llama', 'anthropic:', ':x'])(
    '[B2] %s is of no provider, and the known ones are named',
    async model => {
      expect(await resolve({ model })).toEqual({
        ok: false,
        error: {
          class: 'terminal',
          code: 'model-unknown',
          message: expect.stringContaining('anthropic, openai, openai-chat, google, scripted'),
        },
      });
    },
  );

  it('[B2] an address that is none says which variable is wrong', async () => {
    const resolved = await resolve({ model: 'anthropic:m' }, { ...all, ANTHROPIC_BASE_URL: 'my proxy' });
    const error = {
      class: 'terminal',
      code: 'address-invalid',
      message: expect.stringContaining('ANTHROPIC_BASE_URL'),
    };
    expect(resolved).toEqual({ ok: false, error });
  });

  it('[B1] addresses may leave out their version', async () => {
    const urls: string[] = [];
    for (const [model, variable] of [
      ['anthropic:m', 'ANTHROPIC_BASE_URL'],
      ['openai:m', 'OPENAI_BASE_URL'],
      ['google:m', 'GOOGLE_GEMINI_BASE_URL'],
    ] as const) {
      for (const address of ['http://127.0.0.1:1', 'http://127.0.0.1:1/', 'http://127.0.0.1:1/proxy/v9']) {
        const resolved = await resolve({ model }, { ...all, [variable]: address });
        if (!resolved.ok) throw new Error(resolved.error.message);
        const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] }];
        const failure = await resolved.value.model.doGenerate({ prompt }).then(
          () => undefined,
          (error: { url: string }) => error,
        );
        urls.push(new URL(failure?.url ?? '').pathname);
      }
    }
    expect(urls).toEqual([
      '/v1/messages',
      '/v1/messages',
      '/proxy/v9/messages',
      '/v1/responses',
      '/v1/responses',
      '/proxy/v9/responses',
      '/v1beta/models/m:generateContent',
      '/v1beta/models/m:generateContent',
      '/proxy/v9/models/m:generateContent',
    ]);
  });

  it('[B5] a script is read beside the plan, and one that cannot be used says why', async () => {
    const planDirectory = await mkdtemp(path.join(os.tmpdir(), 'signalbox-adapters-'));
    try {
      await writeFile(path.join(planDirectory, 'good.json'), '{"version":1,"rules":[{"text":"Hello."}]}');
      await writeFile(path.join(planDirectory, 'bad.json'), '{"version":1,"rules":[{"txt":"Hello."}]}');
      await writeFile(
        path.join(planDirectory, 'pattern.json'),
        '{"version":1,"rules":[{"when":{"promptMatches":"("},"text":"x"}]}',
      );
      await writeFile(path.join(planDirectory, 'broken.json'), '{"version":');
      await writeFile(path.join(planDirectory, 'empty.json'), '{"version":1,"rules":[{"thinking":"…"}]}');
      const loaded = async (file: string) => {
        const resolved = await resolve({ model: `scripted:${file}`, planDirectory }, {});
        return resolved.ok ? resolved.value.name : [resolved.error.class, resolved.error.code, resolved.error.message];
      };
      expect(await loaded('good.json')).toEqual({ provider: 'scripted', model: 'good.json' });
      const invalid = (said: string) => ['terminal', 'script-invalid', expect.stringContaining(said)];
      expect(await loaded('bad.json')).toEqual(invalid('"txt"'));
      expect(await loaded('pattern.json')).toEqual(invalid('regular expression'));
      expect(await loaded('broken.json')).toEqual(invalid('JSON'));
      expect(await loaded('empty.json')).toEqual(invalid('a rule says something'));
      expect(await loaded('none.json')).toEqual(invalid('ENOENT'));
    } finally {
      await rm(planDirectory, { recursive: true });
    }
  });
});
