/** The variables that configure access to model providers: the only list of them. */
export interface VendorAccess {
  /** Variables that may hold the key; the first one set counts. */
  readonly keyVariables: readonly [string, ...string[]];
  readonly urlVariable: string;
  readonly defaultUrl: string;
  /** The version part of the address, if the vendor's own tools omit it. */
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
 * The address to call; undefined if invalid. An address with a user name, password or query cannot be called, and errors would
 * quote its secrets.
 */
export function addressOf(given: string, version: string): string | undefined {
  const address = URL.parse(given);
  if (address === null || !/^https?:$/.test(address.protocol)) return undefined;
  const { username, password, search, hash } = address;
  return `${username}${password}${search}${hash}` === '' ? versioned(given, version) : undefined;
}

/** Vendors' own tools accept an address without its version; a missing version is added. */
function versioned(address: string, version: string): string {
  const trimmed = address.replace(/\/+$/, '');
  return /\/v\d+(alpha|beta)?\d*$/.test(trimmed) ? trimmed : `${trimmed}${version}`;
}
