import { type VendorAccess, vendorAccess } from './vendor-access.ts';

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
  const access = ({ keyVariables, urlVariable }: VendorAccess): ProviderAccess => {
    const key = keyVariables.map(name => variables[name]?.trim()).find(value => value);
    const baseUrl = variables[urlVariable]?.trim();
    return { ...(key && { key }), ...(baseUrl && { baseUrl }) };
  };
  const { anthropic, openai, google } = vendorAccess;
  return { anthropic: access(anthropic), openai: access(openai), google: access(google) };
}
