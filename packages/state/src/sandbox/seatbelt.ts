import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { bytesOf, type CommandLimits, DEFAULT_LIMITS } from './command-limits.ts';
import { type CommandSandbox, type ConfinedCommand, harmlessEnv, passedOn } from './command-sandbox.ts';
import { type CommandView, viewOf } from './command-view.ts';
import { notOpened, openInGroup } from './interactive-process.ts';
import { notStarted, type RunningCommand, startInGroup } from './running-command.ts';
import { NO_RULES } from './sandbox-rules.ts';

/**
 * Confinement by macOS's `sandbox-exec`. macOS has no process namespaces: leftover processes stay confined, but a process that
 * left the command's group is not killed with it. Only the limits on file size and time apply.
 */
export function createSeatbelt(program: string): CommandSandbox {
  return {
    name: 'seatbelt',
    open({ command, root, variables, limits, readable, home, ...rest }) {
      const refused = rest.refused.filter(one => fs.existsSync(one)).map(one => fs.realpathSync(one));
      if (root === '/' || refused.includes(root))
        return notOpened({ kind: 'not started', reason: `${root} is refused` });
      const own = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-agent-')));
      const rules = { ...NO_RULES, network: 'host' as const, limits };
      const view = viewOf({ root, rules });
      const profile = seatbeltProfile({ root, refused, rules, own: { readable, home } }, own, view);
      // macOS has no private /tmp.
      const env = [...ENV, ...words({ ...variables, TMPDIR: own })];
      return openInGroup([program, '-p', profile, ...limited(limits), ...env, ...command], { cwd: root, env: {} }, () =>
        fs.rmSync(own, { recursive: true, force: true }),
      );
    },
    start(command) {
      const refused = command.refused.filter(one => fs.existsSync(one)).map(one => fs.realpathSync(one));
      if (command.root === '/' || refused.includes(command.root)) return notStarted(`${command.root} is refused`);
      const own = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-command-')));
      const { rules, root } = command;
      const view = viewOf({ root, ...(rules && { rules }) });
      // The command's variables must not reach `sandbox-exec` itself.
      const env = [...ENV, ...words({ ...harmlessEnv(own, own, view.path), ...passedOn(rules), ...command.env })];
      const profile = seatbeltProfile({ ...command, refused }, own, view);
      const running = startInGroup(
        [program, '-p', profile, ...limited(rules?.limits ?? DEFAULT_LIMITS), ...env, ...command.command],
        { cwd: root, env: {} },
        () => fs.rmSync(own, { recursive: true, force: true }),
      );
      return withFileLimit(running);
    },
  };
}

const ENV = ['/usr/bin/env', '-i'];

function words(variables: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

function limited({ fileMb }: CommandLimits): readonly string[] {
  return ['/bin/sh', '-c', 'ulimit -c 0; ulimit -f "$0"; exec "$@"', String(bytesOf(fileMb) / BLOCK)];
}

/** The unit of `ulimit -f`. */
const BLOCK = 512;

function withFileLimit(running: RunningCommand): RunningCommand {
  const ended = running.ended.then(end =>
    end.kind === 'killed' && end.signal === 'SIGXFSZ' ? { kind: 'limit' as const, limit: 'file size' as const } : end,
  );
  return { ...running, ended };
}

/**
 * The last matching rule applies. Only named paths can be read; the existence of others is visible, because paths could not be
 * resolved otherwise.
 */
export function seatbeltProfile(
  { root, refused, rules, own: shown }: Pick<ConfinedCommand, 'root' | 'refused' | 'rules' | 'own'>,
  own: string,
  view: Pick<CommandView, 'readable' | 'writable' | 'hidden'>,
): string {
  const ruled = (verb: string) => (one: string) => ({ path: one, rule: `(${verb} (subpath ${quoted(one)}))` });
  // From the top down: nested paths come after their parents.
  const places = [
    ...view.readable.map(place => place.path).map(ruled('allow file-read*')),
    ...[root, own, ...view.writable].map(ruled('allow file-read* file-write*')),
    ...[...view.hidden, ...refused].map(ruled('deny file-read* file-write*')),
    ...(shown?.readable ?? []).map(ruled('allow file-read*')),
    ...(shown === undefined ? [] : [shown.home]).map(ruled('allow file-read* file-write*')),
  ].toSorted((a, b) => depth(a.path) - depth(b.path));
  return [
    '(version 1)',
    '(allow default)',
    rules?.network === 'host' ? '(deny network-outbound (remote unix-socket))' : '(deny network*)',
    '(deny mach-lookup)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(deny appleevent-send)',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny file-read* file-write*)',
    '(allow file-read-metadata)',
    '(allow file-read* (literal "/"))',
    '(allow file-write* (subpath "/dev/fd") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    ...places.map(place => place.rule),
  ].join('\n');
}

function depth(place: string): number {
  return place.split('/').length;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
