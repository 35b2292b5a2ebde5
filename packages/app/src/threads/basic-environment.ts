export type Environment = Readonly<Record<string, string>>;
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Variables that every program expects and that hold no secrets. */
const BASICS: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'LANG', 'LANGUAGE'],
  ...['TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'NODE_ENV', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
];

/** The environment of a thread without a plan. */
export function basicEnvironment(env: ProcessEnvironment): Environment {
  return chosenVariables(env, name => BASICS.includes(name) || name.startsWith('LC_'));
}

export function chosenVariables(env: ProcessEnvironment, isChosen: (name: string) => boolean): Environment {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && isChosen(name) ? [[name, value]] : [])),
  );
}
