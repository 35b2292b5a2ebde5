/** The keys and addresses of the providers of models. Values of keys are secrets. */
export interface ModelEnvironment {
  readonly anthropic: ProviderAccess;
  readonly openai: ProviderAccess;
  readonly google: ProviderAccess;
}

export interface ProviderAccess {
  readonly key?: string;
  readonly baseUrl?: string;
}

/** The one place that reads the variables; whoever starts the agent hands them over. */
export function readModelEnvironment(variables: Readonly<Record<string, string | undefined>>): ModelEnvironment {
  const access = (keys: readonly string[], url: string): ProviderAccess => {
    const key = keys.map(name => variables[name]?.trim()).find(value => value);
    const baseUrl = variables[url]?.trim();
    return { ...(key && { key }), ...(baseUrl && { baseUrl }) };
  };
  return {
    anthropic: access(['ANTHROPIC_API_KEY'], 'ANTHROPIC_BASE_URL'),
    openai: access(['OPENAI_API_KEY'], 'OPENAI_BASE_URL'),
    google: access(['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'], 'GOOGLE_GEMINI_BASE_URL'),
  };
}
