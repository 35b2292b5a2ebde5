import path from 'node:path';

export interface DataDirectoryFacts {
  /** From the command line. */
  readonly asked?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly home: string;
  readonly cwd: string;
}

/** Where the directory was specified: a variable, the program's caller, or nowhere. */
export function dataDirectorySource(
  directory: string,
  facts: Omit<DataDirectoryFacts, 'asked'>,
): 'environment' | 'program' | 'default' {
  if (facts.env.SIGNALBOX_DATA_DIR && dataDirectory(facts) === directory) return 'environment';
  const unless = dataDirectory({ ...facts, env: { ...facts.env, SIGNALBOX_DATA_DIR: undefined } });
  return unless === directory ? 'default' : 'program';
}

/** The data directory: as specified, otherwise the platform's place for program data. */
export function dataDirectory({ asked, env, platform, home, cwd }: DataDirectoryFacts): string {
  const paths = platform === 'win32' ? path.win32 : path.posix;
  const told = asked || env.SIGNALBOX_DATA_DIR;
  if (told) return paths.resolve(cwd, told);
  switch (platform) {
    case 'win32':
      return paths.join(env.LOCALAPPDATA || paths.join(home, 'AppData', 'Local'), 'Signalbox');
    case 'darwin':
      return paths.join(home, 'Library', 'Application Support', 'Signalbox');
    default: {
      // The XDG specification says to ignore a path that is not absolute.
      const xdg = env.XDG_DATA_HOME ?? '';
      return paths.join(paths.isAbsolute(xdg) ? xdg : paths.join(home, '.local', 'share'), 'signalbox');
    }
  }
}
