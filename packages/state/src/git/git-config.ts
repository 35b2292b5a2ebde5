import * as os from 'node:os';
import { startProgram } from '../programs/start-program.ts';
import { systemPath, systemProgram } from '../programs/system-programs.ts';

export interface ConfigEntry {
  /** As git prints it: section and name in lower case, the subsection as written. */
  readonly key: string;
  readonly value: string;
}

/** Larger configurations are not read: they count as something that git could run. */
const LARGEST = 1 << 20;

/** The entries of a configuration file as git itself reads them; undefined if it cannot, or there is no git. Includes are not followed. */
export async function readGitConfig(content: Uint8Array): Promise<readonly ConfigEntry[] | undefined> {
  if (content.length > LARGEST) return undefined;
  const out = await askGit(['config', '--file', '-', '--no-includes', '--list', '-z'], '/', content);
  return out?.split('\0').slice(0, -1).map(entryOf);
}

/** The configuration that git uses in a directory, and the file that each entry is from; undefined if there is none. */
export async function configInUse(
  directory: string,
): Promise<readonly (ConfigEntry & { readonly file?: string })[] | undefined> {
  const out = await askGit(['config', '--includes', '--show-origin', '--list', '-z'], directory);
  if (out === undefined) return undefined;
  const words = out.split('\0').slice(0, -1);
  return words.flatMap((origin, at) => {
    if (at % 2 === 1) return [];
    const file = origin.startsWith('file:') ? { file: origin.slice('file:'.length) } : {};
    return [{ ...entryOf(words[at + 1] ?? ''), ...file }];
  });
}

function entryOf(text: string): ConfigEntry {
  const end = text.indexOf('\n');
  return end < 0 ? { key: text, value: '' } : { key: text.slice(0, end), value: text.slice(end + 1) };
}

/**
 * Whether an entry can make git neither run a program nor read configuration, hooks or files from another place. Every entry that is not
 * known to be harmless isn't: git gains new ones with every version.
 */
export function isHarmless({ key, value }: ConfigEntry): boolean {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const [section, name] = [key.slice(0, first), key.slice(last + 1)];
  if (first === last) return HARMLESS[section]?.includes(name) === true || ANY_NAME.includes(section);
  if (HARMLESS_IN_SUBSECTIONS[section]?.includes(name) === true) return true;
  return ADDRESSES[section]?.includes(name) === true ? isPlainAddress(value) : isUpdateMode(section, name, value);
}

const ANY_NAME: readonly string[] = ['color', 'column', 'advice'];

const words = (text: string): readonly string[] => text.split(' ');

const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  core: words(
    'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf safecrlf eol quotepath abbrev untrackedcache sharedrepository sparsecheckout sparsecheckoutcone checkstat trustctime preloadindex compression loosecompression bigfilethreshold commentchar whitespace multipackindex commitgraph longpaths',
  ),
  extensions: words('objectformat refstorage worktreeconfig relativeworktrees noop preciousobjects'),
  user: words('name email useconfigonly'),
  author: words('name email'),
  committer: words('name email'),
  init: words('defaultbranch'),
  pull: words('rebase ff'),
  push: words('default autosetupremote followtags'),
  fetch: words('prune prunetags parallel'),
  merge: words('ff conflictstyle renames log stat branchdesc'),
  rebase: words('autosquash autostash updaterefs stat'),
  rerere: words('enabled autoupdate'),
  commit: words('verbose status cleanup'),
  branch: words('sort autosetupmerge autosetuprebase'),
  tag: words('sort'),
  status: words('short branch showuntrackedfiles showstash relativepaths aheadbehind renames'),
  diff: words('algorithm renames context colormoved colormovedws mnemonicprefix noprefix submodule wserrorhighlight'),
  log: words('date decorate follow abbrevcommit'),
  gc: words('auto autodetach autopacklimit'),
  index: words('version threads sparse'),
  feature: words('manyfiles'),
  maintenance: words('auto strategy'),
  receive: words('denycurrentbranch denynonfastforwards denydeletes'),
  lfs: words('repositoryformatversion'),
  submodule: words('active recurse'),
};

const HARMLESS_IN_SUBSECTIONS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(ANY_NAME.map(section => [section, words('branch diff interactive status grep')])),
  branch: words('merge rebase description'),
  remote: words('fetch push tagopt prune prunetags mirror skipfetchall skipdefaultupdate'),
  submodule: words('active branch ignore fetchrecursesubmodules'),
};

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  branch: words('remote pushremote'),
  remote: words('url pushurl'),
  submodule: words('url'),
};

/** `transport::address` runs a program named after the transport; a leading hyphen may be taken for an option. */
function isPlainAddress(value: string): boolean {
  return !value.startsWith('-') && !value.includes('::');
}

/** An update mode may also be a command, which begins with `!`. */
function isUpdateMode(section: string, name: string, value: string): boolean {
  return section === 'submodule' && name === 'update' && ['checkout', 'rebase', 'merge', 'none'].includes(value);
}

let program: string | undefined;

/** What git prints; undefined if it fails or there is none. It reads configuration only, so nothing that a repository names is run. */
function askGit(args: readonly string[], cwd: string, input?: Uint8Array): Promise<string | undefined> {
  program ??= systemProgram('git');
  const file = program;
  if (file === undefined) return Promise.resolve(undefined);
  return new Promise(resolve => {
    const child = startProgram(file, args, { cwd, env: environment(), stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', () => resolve(undefined));
    child.once('close', code => resolve(code === 0 ? Buffer.concat(chunks).toString() : undefined));
    // It may end before it has read everything, for a file that is not a configuration.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function environment(): NodeJS.ProcessEnv {
  const { HOME = os.homedir(), XDG_CONFIG_HOME } = process.env;
  return { PATH: systemPath(), HOME, LC_ALL: 'C', ...(XDG_CONFIG_HOME !== undefined && { XDG_CONFIG_HOME }) };
}
