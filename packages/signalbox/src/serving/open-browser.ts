import { spawn } from 'node:child_process';
import { systemPath, systemProgram } from '@signalbox/app';

/** Opens an address in the default browser. Failing to open it is not an error: the address is printed too. */
export function openBrowser(address: string): void {
  const [name, ...args] = openerOf(process.platform);
  const program = systemProgram(name);
  if (program === undefined) return;
  // Programs that it starts by name come from the system too.
  const env = { ...process.env, PATH: systemPath() };
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true, env });
  child.on('error', () => undefined);
  child.unref();
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  switch (platform) {
    case 'darwin':
      return ['open'];
    case 'win32':
      return ['rundll32', 'url.dll,FileProtocolHandler'];
    default:
      return ['xdg-open'];
  }
}
