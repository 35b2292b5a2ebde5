import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { isWithin } from '../filesystem/path-locks.ts';
import { type CommandSandbox, type ConfinedCommand, harmlessEnv } from './command-sandbox.ts';
import { notStarted, startInGroup } from './running-command.ts';

/**
 * Confinement by macOS' `sandbox-exec`. There are no process namespaces there: what a command leaves behind stays
 * confined, but a process that left the command's group is not ended with it.
 */
export function createSeatbelt(program: string): CommandSandbox {
  return {
    name: 'seatbelt',
    start(command) {
      const refused = command.refused.filter(one => fs.existsSync(one)).map(one => fs.realpathSync(one));
      if (command.root === '/' || refused.includes(command.root)) return notStarted(`${command.root} is refused`);
      const own = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-command-')));
      // The command's variables must not reach `sandbox-exec` itself.
      const variables = Object.entries({ ...harmlessEnv(own, own), ...command.env });
      const env = ['/usr/bin/env', '-i', ...variables.map(([name, value]) => `${name}=${value}`)];
      return startInGroup(
        [program, '-p', seatbeltProfile({ ...command, refused }, own), ...env, ...command.command],
        { cwd: command.root, env: {} },
        () => fs.rmSync(own, { recursive: true, force: true }),
      );
    },
  };
}

/** Of the rules that fit, the last one holds. */
export function seatbeltProfile({ root, refused }: Pick<ConfinedCommand, 'root' | 'refused'>, own: string): string {
  const around = refused.filter(one => isWithin(root, one));
  const within = refused.filter(one => !isWithin(root, one));
  const deny = (paths: readonly string[]) => paths.map(one => `(deny file-read* file-write* (subpath ${quoted(one)}))`);
  return [
    '(version 1)',
    '(allow default)',
    '(deny network*)',
    '(deny mach-lookup)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(deny appleevent-send)',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny file-write*)',
    '(allow file-write* (subpath "/dev/fd") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    ...deny(around),
    `(allow file-read* file-write* (subpath ${quoted(root)}) (subpath ${quoted(own)}))`,
    ...deny(within),
  ].join('\n');
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
