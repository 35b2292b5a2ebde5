import { foreignPackages, type Lock } from './lock-file.ts';

/** Licences under which a package may be used, shipped and changed with no more than a notice. By SPDX id. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

export interface LicenceException {
  /** Whole names. One that ends with `*` stands for those that begin so. */
  readonly name: string;
  readonly license: string;
  readonly reason: string;
}

/** Packages under another licence. None of them is shipped: the check sees to that. */
const EXCEPTIONS: readonly LicenceException[] = [
  {
    name: 'axe-core',
    license: 'MPL-2.0',
    reason: 'Tests look for barriers in the console with it, unchanged.',
  },
  {
    name: 'lightningcss*',
    license: 'MPL-2.0',
    reason:
      'Vite and Tailwind make style sheets with it when the console is built, unchanged; nothing of it is in them.',
  },
  {
    name: '@modelcontextprotocol/inspector',
    license: 'SEE LICENSE IN LICENSE',
    reason: 'Its file says MIT for older and Apache-2.0 for newer contributions. Tests use it as an MCP client.',
  },
  {
    name: '@modelcontextprotocol/server-filesystem',
    license: 'SEE LICENSE IN LICENSE',
    reason: 'Its README says MIT. A test runs it as an MCP server.',
  },
  ...['glob', 'lru-cache', 'minimatch', 'minipass', 'path-scurry'].map(name => ({
    name,
    license: 'BlueOak-1.0.0',
    reason: 'It comes with the MCP server for files that a test runs, unchanged.',
  })),
];

/** Problems with the licences of installed packages. `shipped` are the places of those that users get. */
export function licenceProblems(
  lock: Lock,
  shipped: ReadonlySet<string>,
  exceptions: readonly LicenceException[] = EXCEPTIONS,
): readonly string[] {
  const used = new Set<LicenceException>();
  const problems = foreignPackages(lock).flatMap(({ name, version, license = 'none', place }) => {
    if (isAllowed(license)) return [];
    const exception = exceptions.find(one => matches(one.name, name) && one.license === license);
    if (exception === undefined)
      return [`${name}@${version} is under ${license}, which is not on the list of licences`];
    used.add(exception);
    return shipped.has(place) ? [`${name}@${version} is under ${license} and is shipped`] : [];
  });
  const stale = exceptions
    .filter(one => !used.has(one))
    .map(({ name }) => `no package needs the exception for ${name}`);
  return [...new Set([...problems, ...stale])].sort();
}

/** An expression of SPDX: of alternatives one is enough, of a list all are needed. Anything else counts as not allowed. */
export function isAllowed(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  if (/[()]/.test(plain)) return false;
  return plain.split(' OR ').some(choice => choice.split(' AND ').every(id => ALLOWED.has(id.trim())));
}

export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
