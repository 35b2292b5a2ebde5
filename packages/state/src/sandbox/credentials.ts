import * as fs from 'node:fs';
import * as os from 'node:os';
import { namesIfReadable } from '../filesystem/directory-names.ts';
import { isWithin } from '../filesystem/path-locks.ts';

/**
 * Names of files and directories in which programs keep credentials. They are hidden from commands wherever a command may
 * read the parent directory.
 */

/** Relative to any directory. */
const ANYWHERE = [
  ...['.ssh', '.gnupg', '.netrc', '_netrc', '.git-credentials', '.pgpass', '.pypirc', '.vault-token', '.htpasswd'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'id_xmss'],
  ...['.aws/credentials', '.aws/cli', '.aws/sso', '.azure', '.kube/config', '.kube/cache', '.docker/config.json'],
  ...['.config/gh', '.config/glab-cli', '.config/hub', '.config/gcloud', '.config/git/credentials'],
  ...['.config/containers/auth.json', '.config/composer/auth.json', '.composer/auth.json', '.config/rclone'],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials', '.terraform.d/credentials.tfrc.json'],
  ...['.boto', '.s3cfg', '.oci', '.my.cnf', '.mylogin.cnf', '.password-store', '.local/share/keyrings'],
];

/** Relative to a home directory: in a project the same names are harmless. */
const AT_HOME = [
  ...['.aws', '.kube', '.docker', '.config', '.claude', '.claude.json', '.codex', '.gemini', '.copilot'],
  ...['.m2/settings.xml', '.m2/settings-security.xml', '.gradle/gradle.properties', '.bundle/config', '.terraformrc'],
  ...['.nuget/NuGet', '.mozilla', '.thunderbird', '.local/share/kwalletd', '.pki', '.bash_history', '.zsh_history'],
  ...[
    '.python_history',
    '.node_repl_history',
    '.psql_history',
    '.mysql_history',
    '.sqlite_history',
    '.rediscli_history',
  ],
  ...['Library/Keychains', 'Library/Cookies', 'Library/Application Support', 'Library/Preferences', 'Library/Safari'],
];

/** Package manager settings: credentials only if they contain a token. */
const WITH_TOKENS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pip.conf', '.pip/pip.conf', 'bunfig.toml', '.condarc'];
const TOKEN = /_authToken|_password|_auth\s*=|npmAuth(?:Token|Ident)|token\s*=|:\/\/[^\s/@:]*:[^\s/@]+@/;
const MAX_SETTINGS_BYTES = 1 << 20;

/** The credentials directly inside a directory: real paths that exist. */
export function credentialsIn(directory: string, isHome: boolean): readonly string[] {
  const names = isHome ? [...ANYWHERE, ...AT_HOME] : ANYWHERE;
  const holding = WITH_TOKENS.filter(name => holdsToken(`${directory}/${name}`));
  return [...names, ...holding].flatMap(name => real(`${directory}/${name}`));
}

/** Whether a directory holds credentials, or is inside one that does. Takes a real path, which need not exist. */
export function isCredentialPlace(directory: string, home = os.homedir()): boolean {
  const given = `${directory}/`.toLowerCase();
  if (placesAnywhere.some(place => given.includes(place))) return true;
  const homes = [...real(home), home, '/root', ...(/^\/(?:home|Users)\/[^/]+/.exec(directory) ?? [])];
  return homes
    .map(each => each.toLowerCase())
    .some(each => placesAtHome.some(place => given.startsWith(place, each.length) && given.startsWith(each)));
}

const placesAnywhere = ANYWHERE.map(name => `/${name.toLowerCase()}/`);
const placesAtHome = AT_HOME.map(name => `/${name.toLowerCase()}/`);

/** The credentials directly inside a directory, refreshed at most once a second: a search asks for them at every file. */
export function credentialsOf(directory: string, home = os.homedir()): () => readonly string[] {
  let known: readonly string[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lookedAt > RECENT_MS) {
      known = credentialsIn(directory, real(home).includes(directory)).filter(path => isWithin(path, directory));
      lookedAt = performance.now();
    }
    return known;
  };
}

const RECENT_MS = 1000;

/** Entries of a system directory that only their owner and group may read: host keys, password hashes. */
export function closedBelow(directory: string, limit = MAX_ENTRIES): readonly string[] {
  const found: string[] = [];
  const waiting = [directory];
  for (let seen = 0, next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of namesIfReadable(next)) {
      const path = `${next}/${name}`;
      const stat = fs.lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || stat.isSymbolicLink()) continue;
      // Unchecked entries are not shown.
      const isOpen = stat.isDirectory() ? (stat.mode & 0o005) === 0o005 : (stat.mode & 0o004) !== 0;
      if (!isOpen || seen++ >= limit) found.push(path);
      else if (stat.isDirectory()) waiting.push(path);
    }
  }
  return found;
}

const MAX_ENTRIES = 20_000;

function holdsToken(file: string): boolean {
  try {
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    // The command has no business reading an unreadable one either.
    return stat.isFile() && (stat.size > MAX_SETTINGS_BYTES || TOKEN.test(fs.readFileSync(file, 'utf8')));
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EACCES';
  }
}

function real(path: string): readonly string[] {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false }) === undefined ? [] : [fs.realpathSync(path)];
  } catch {
    return [];
  }
}
