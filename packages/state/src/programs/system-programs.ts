import * as fs from 'node:fs';
import * as path from 'node:path';

/**
 * Directories that only the system's own tools install programs into. Programs that run outside the sandbox are looked up here, never
 * on the PATH: under npm the project's `node_modules/.bin` comes first there, and agents can write to it.
 */
export const SYSTEM_DIRECTORIES: readonly string[] = [
  ...['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'],
];

/** Where the system owner's package managers install more programs. */
const MORE_DIRECTORIES: readonly string[] = [
  ...['/usr/sbin', '/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/opt/local/bin', '/home/linuxbrew/.linuxbrew/bin'],
  ...['/snap/bin', '/var/lib/flatpak/exports/bin', '/nix/var/nix/profiles/default/bin'],
];

/** A program's file; undefined if the system has no such program. */
export function systemProgram(name: string, directories: readonly string[] = programDirectories()): string | undefined {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return directories.map(directory => path.join(directory, file)).find(one => fs.existsSync(one));
}

/** The `PATH` of programs that run outside the sandbox, so that the same rule applies to programs they start. */
export function systemPath(): string {
  return programDirectories().join(path.delimiter);
}

function programDirectories(env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] {
  if (process.platform !== 'win32') return [...SYSTEM_DIRECTORIES, ...MORE_DIRECTORIES];
  const windows = env.SystemRoot ?? 'C:\\Windows';
  const programs = [env.PROGRAMFILES ?? 'C:\\Program Files', env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\Programs`];
  return [`${windows}\\System32`, windows, ...programs.flatMap(root => (root ? [`${root}\\Git\\cmd`] : []))];
}
