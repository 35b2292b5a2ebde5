import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { err, ok, type Result } from '@signalbox/model';
import type { Assignment, ModelName, TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { ModelEnvironment, ProviderAccess } from './model-environment.ts';
import { loadScriptedModel } from './scripted-model.ts';
import { addressOf, vendorAccess } from './vendor-access.ts';

/** A model that can be called. */
export interface ResolvedModel {
  readonly name: ModelName;
  readonly model: LanguageModelV4;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
  /** Sent with every call. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /** The variable that holds the key, for suggestions. */
  readonly keyVariable?: string;
}

export type ModelOf = (assignment: Assignment) => Promise<Result<ResolvedModel, TaskError>>;

const providers = ['anthropic', 'openai', 'openai-chat', 'google', 'scripted'] as const;
type Provider = (typeof providers)[number];
type Remote = Exclude<Provider, 'scripted'>;

interface Vendor {
  readonly access: (environment: ModelEnvironment) => ProviderAccess;
  /** A provider's package is loaded on demand. */
  readonly create: (settings: { apiKey: string; baseURL: string }, model: string) => Promise<LanguageModelV4>;
  readonly providerOptions?: SharedV4ProviderOptions;
}

const openai: Omit<Vendor, 'create'> = {
  access: environment => environment.openai,
  // The conversation is ours: the provider stores nothing, and returns the model's reasoning encrypted. Tool schemas come
  // from authors, and not all of them satisfy strict mode.
  providerOptions: { openai: { store: false, strictJsonSchema: false } },
};

const vendors: Readonly<Record<Remote, Vendor>> = {
  anthropic: {
    access: environment => environment.anthropic,
    create: async (settings, model) => (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model),
  },
  openai: {
    ...openai,
    create: async (settings, model) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(model),
  },
  'openai-chat': {
    ...openai,
    create: async (settings, model) => (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model),
  },
  google: {
    access: environment => environment.google,
    create: async (settings, model) => (await import('@ai-sdk/google')).createGoogle(settings)(model),
  },
};

/** The model of a vendor's node if its author names none. */
const DEFAULT_MODELS = {
  claude: 'anthropic:claude-sonnet-5-5',
  openai: 'openai:gpt-6.1-sol',
  codex: 'openai:gpt-6.1-sol',
  gemini: 'google:gemini-3.5-flash',
} as const;

/** The provider of a model that is given by name only. */
const families: readonly (readonly [RegExp, Remote])[] = [
  [/^claude-/, 'anthropic'],
  [/^(gpt-|o\d|codex-)/, 'openai'],
  [/^(gemini-|gemma-)/, 'google'],
];

/** Finds the model that an assignment asks for. */
export function createModelSource(environment: ModelEnvironment): ModelOf {
  return async assignment => {
    const chosen = chooseModel(assignment, environment);
    if (!chosen.ok) return chosen;
    const { provider, model } = chosen.value;
    if (provider === 'scripted') return loadScriptedModel(model, assignment.planDirectory);
    const vendor = vendors[provider];
    const { keyVariables, urlVariable, defaultUrl, version } = vendorAccess[provider];
    const { key, baseUrl } = vendor.access(environment);
    if (key === undefined) return err(keyMissing(assignment, `${provider}:${model}`, keyVariables[0]));
    const baseURL = baseUrl === undefined ? defaultUrl : addressOf(baseUrl, version);
    if (baseURL === undefined) return err(addressInvalid(assignment, urlVariable));
    return ok({
      name: { provider, model },
      model: await vendor.create({ apiKey: key, baseURL }, model),
      secrets: [key],
      keyVariable: keyVariables[0],
      ...(vendor.providerOptions && { providerOptions: vendor.providerOptions }),
    });
  };
}

function chooseModel(
  assignment: Assignment,
  environment: ModelEnvironment,
): Result<{ readonly provider: Provider; readonly model: string }, TaskError> {
  const wanted = assignment.model?.trim() || defaultModel(assignment.vendor, environment);
  if (wanted === undefined)
    return err(keyMissing(assignment, undefined, 'ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY'));
  const colon = wanted.indexOf(':');
  if (colon < 0) {
    const provider = providerOf(assignment.vendor) ?? families.find(([names]) => names.test(wanted))?.[1];
    return provider === undefined ? err(unknownModel(assignment, wanted)) : ok({ provider, model: wanted });
  }
  const provider = providers.find(name => name === wanted.slice(0, colon));
  const model = wanted.slice(colon + 1).trim();
  return provider === undefined || model === '' ? err(unknownModel(assignment, wanted)) : ok({ provider, model });
}

/** Without a vendor, the first provider that has a key. */
function defaultModel(vendor: Assignment['vendor'], environment: ModelEnvironment): string | undefined {
  if (vendor !== 'any') return DEFAULT_MODELS[vendor];
  if (environment.anthropic.key !== undefined) return DEFAULT_MODELS.claude;
  if (environment.openai.key !== undefined) return DEFAULT_MODELS.openai;
  return environment.google.key === undefined ? undefined : DEFAULT_MODELS.gemini;
}

function providerOf(vendor: Assignment['vendor']): Remote | undefined {
  switch (vendor) {
    case 'claude':
      return 'anthropic';
    case 'openai':
    case 'codex':
      return 'openai';
    case 'gemini':
      return 'google';
    case 'any':
      return undefined;
  }
}

function keyMissing(assignment: Assignment, model: string | undefined, variable: string): TaskError {
  const wants =
    model === undefined
      ? 'names no model, and there is a key for none'
      : `asks for ${model}, and there is no key for it`;
  return taskFailure(
    'key-missing',
    `Node ${assignment.node} ${wants}. Set ${variable} where Signalbox is started, or use a model that needs no key: "scripted:FILE.json".`,
  );
}

function addressInvalid(assignment: Assignment, variable: string): TaskError {
  return taskFailure(
    'address-invalid',
    `Node ${assignment.node} cannot reach its model: ${variable} is not an address such as https://host/v1, without a name, a password or a query.`,
  );
}

function unknownModel(assignment: Assignment, wanted: string): TaskError {
  return taskFailure(
    'model-unknown',
    `Node ${assignment.node} asks for the model ${JSON.stringify(wanted)}, of which no provider is known. Write provider:model with one of ${providers.join(', ')}.`,
  );
}
