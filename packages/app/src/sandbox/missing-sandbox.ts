import { detectSandbox } from '@signalbox/state';

/** Why commands cannot be confined on this machine; undefined if they can. Really tried. */
export async function missingSandbox(detect: typeof detectSandbox = detectSandbox): Promise<string | undefined> {
  const sandbox = await detect();
  return sandbox.ok ? undefined : sandbox.error.message;
}
