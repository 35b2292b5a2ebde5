/** What is set to reach the providers of models: the one list of these variables. */
export interface VendorAccess {
  /** Variables that may hold the key, the first that is set counts. */
  readonly keyVariables: readonly [string, ...string[]];
  readonly urlVariable: string;
  readonly defaultUrl: string;
  /** The part of the address that names the version, where a vendor's own tools leave it out. */
  readonly version: string;
}

const openai: VendorAccess = {
  keyVariables: ['OPENAI_API_KEY'],
  urlVariable: 'OPENAI_BASE_URL',
  defaultUrl: 'https://api.openai.com/v1',
  version: '/v1',
};

export const vendorAccess = {
  anthropic: {
    keyVariables: ['ANTHROPIC_API_KEY'],
    urlVariable: 'ANTHROPIC_BASE_URL',
    defaultUrl: 'https://api.anthropic.com/v1',
    version: '/v1',
  },
  openai,
  'openai-chat': openai,
  google: {
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    urlVariable: 'GOOGLE_GEMINI_BASE_URL',
    defaultUrl: 'https://generativelanguage.googleapis.com/v1beta',
    version: '/v1beta',
  },
} as const satisfies Readonly<Record<string, VendorAccess>>;

/**
 * The address to call, undefined where what was given is none. One with a name, a password or a query cannot be called, and
 * errors would quote what is secret in it.
 */
export function addressOf(given: string, version: string): string | undefined {
  const address = URL.parse(given);
  if (address === null || !/^https?:$/.test(address.protocol)) return undefined;
  const { username, password, search, hash } = address;
  return `${username}${password}${search}${hash}` === '' ? versioned(given, version) : undefined;
}

/** Vendors' own tools take an address without its version; the version is added where it is missing. */
function versioned(address: string, version: string): string {
  const trimmed = address.replace(/\/+$/, '');
  return /\/v\d+(alpha|beta)?\d*$/.test(trimmed) ? trimmed : `${trimmed}${version}`;
}
