import type { ProviderReference } from '@signalbox/model';
import { addressOf, type VendorAccess, vendorAccess } from './vendor-access.ts';

/** Shown instead of an invalid address, which may contain a secret. */
const NO_ADDRESS = 'not an address such as https://host/v1';

/** The providers' addresses and where their keys are set, without key values. */
export function providerReferences(
  variables: Readonly<Record<string, string | undefined>>,
): readonly ProviderReference[] {
  const remote = Object.entries(vendorAccess).map(([name, access]) => referenceTo(name, access, variables));
  return [...remote, { name: 'scripted' }];
}

/** Names of all key variables, set or not. */
export function providerKeyNames(): readonly string[] {
  return Object.values(vendorAccess).flatMap(({ keyVariables }) => keyVariables);
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
    baseUrl: given ? (addressOf(given, version) ?? NO_ADDRESS) : defaultUrl,
    baseUrlName: urlVariable,
  };
}
