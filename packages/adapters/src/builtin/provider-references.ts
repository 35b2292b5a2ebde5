import type { ProviderReference } from '@signalbox/model';
import { type VendorAccess, vendorAccess, versioned } from './vendor-access.ts';

/** Where the providers are reached and where their keys are, without a value of a key. */
export function providerReferences(
  variables: Readonly<Record<string, string | undefined>>,
): readonly ProviderReference[] {
  const remote = Object.entries(vendorAccess).map(([name, access]) => referenceTo(name, access, variables));
  return [...remote, { name: 'scripted' }];
}

function referenceTo(
  name: string,
  { keyVariables, urlVariable, defaultUrl, version }: VendorAccess,
  variables: Readonly<Record<string, string | undefined>>,
): ProviderReference {
  const given = variables[urlVariable]?.trim();
  const set = keyVariables.find(variable => variables[variable]?.trim());
  return {
    name,
    key: { name: set ?? keyVariables[0], isSet: set !== undefined },
    baseUrl: given ? shownAddress(given, version) : defaultUrl,
    baseUrlName: urlVariable,
  };
}

/** Names, passwords and queries in an address may be secrets. */
function shownAddress(given: string, version: string): string {
  const address = URL.parse(versioned(given, version));
  if (address === null || !/^https?:$/.test(address.protocol)) return 'not an address such as https://host/v1';
  return `${address.origin}${address.pathname}`;
}
