/**
 * Whether the name of a variable marks its value as secret. The name is split into words, at underscores, dashes, dots and capitals, so
 * that prefixes and suffixes do not matter: `GITHUB_TOKEN_2`, `SECRET_KEY_BASE`, `prodDbPassword`.
 *
 * 1. A word such as SECRET, TOKEN or PASSWORD makes a name secret anywhere.
 * 2. KEY does so at the end, or after a word such as PRIVATE, API or SSH; PASS, AUTH, PAT and the like only at the end.
 * 3. A name that ends with a property of a secret (its FILE, URL, TTL, COUNT or ID) is not secret, nor is a number of tokens or a public
 *    key.
 */
export function isSecretName(name: string): boolean {
  if (NOT_SECRET.has(name)) return false;
  const all = wordsOf(name);
  const words = all.slice(0, all.findLastIndex(word => !IS_SUFFIX.test(word)) + 1);
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (ABOUT.has(last) && !(last === 'id' && before === 'secret')) return false;
  if (words.some(word => word === 'tokens' || word === 'maxtokens') && words.some(word => AMOUNT.has(word)))
    return false;
  if (KEY.test(last) && NOT_A_SECRET_KEY.has(before)) return false;
  return (
    words.some(word => SECRET.has(word)) ||
    RUN_TOGETHER.test(last) ||
    AT_END.has(last) ||
    words.some((word, at) => KEY.test(word) && SECRET_KEY.has(words[at - 1] ?? ''))
  );
}

/** The working directory, and the previous one. */
const NOT_SECRET = new Set(['PWD', 'OLDPWD']);

const SECRET = new Set(
  'secret secrets token tokens password passwords passwd passphrase credential credentials creds apikey apikeys'.split(
    ' ',
  ),
);
const AT_END = new Set('key keys pass pwd pat dsn cookie cookies auth authorization cred jwt bearer'.split(' '));
const RUN_TOGETHER = /(?:apikey|token|secret|password|passwd|passphrase|credential)s?$/;
const KEY = /^keys?$/;
const SECRET_KEY = new Set(
  'private api access secret ssh gpg pgp signing encryption master deploy service account storage auth session host jwt hmac rsa'.split(
    ' ',
  ),
);
const NOT_A_SECRET_KEY = new Set(
  'public publishable primary foreign partition sort cache index shift control meta hot arrow'.split(' '),
);
/** Properties of a secret that are not secret themselves. */
const ABOUT = new Set(
  [
    'count counts limit limits max min budget size length len ttl expiry expires expiration lifetime age seconds days',
    'url uri endpoint host port path paths file files dir directory folder sock socket',
    'name names id ids type kind provider issuer audience algorithm alg version format prefix header',
    'enabled disabled required policy rotation interval timeout region user username email method mode store helper',
    'fingerprint hint pattern regex usage command cmd program askpass',
  ].flatMap(line => line.split(' ')),
);
const AMOUNT = new Set(
  'max maxtokens min num number total output input thinking context completion prompt reasoning cached'.split(' '),
);
/** A number, or where it is used. */
const IS_SUFFIX =
  /^(?:v?\d+|prod|production|dev|development|stage|staging|test|testing|live|old|new|default|local|ci)$/;

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '');
}
