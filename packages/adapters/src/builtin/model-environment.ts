import { type VendorAccess, vendorAccess } from './vendor-access.ts';

/** Keys and addresses of model providers. Key values are secrets. */
export interface ModelEnvironment {
  readonly anthropic: ProviderAccess;
  readonly openai: ProviderAccess;
  readonly google: ProviderAccess;
}

export interface ProviderAccess {
  readonly key?: string;
  readonly baseUrl?: string;
}

/** The only place that reads the variables; the caller passes them in. */
export function readModelEnvironment(variables: Readonly<Record<string, string | undefined>>): ModelEnvironment {
  const access = ({ keyVariables, urlVariable }: VendorAccess): ProviderAccess => {
    const key = keyVariables.map(name => variables[name]?.trim()).find(value => value);
    const baseUrl = variables[urlVariable]?.trim();
    return { ...(key && { key }), ...(baseUrl && { baseUrl }) };
  };
  const { anthropic, openai, google } = vendorAccess;
  return { anthropic: access(anthropic), openai: access(openai), google: access(google) };
}
