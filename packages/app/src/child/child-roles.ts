import { DRIVE_PLAN, drivePlan } from '../demo/plan-scene.ts';
import { TORN_APPEND, tornAppend } from '../demo/torn-append.ts';
import { HOLD_LOCK, holdLock } from './hold-lock.ts';

type Role = (args: readonly string[], print: (line: string) => void) => Promise<number>;

const roles: Readonly<Record<string, Role>> = {
  [HOLD_LOCK]: holdLock,
  [TORN_APPEND]: tornAppend,
  [DRIVE_PLAN]: drivePlan,
};

/** Plays one of the roles that this program starts itself for. Returns the exit code. */
export async function playChildRole(role: string, args: readonly string[]): Promise<number> {
  const play = Object.hasOwn(roles, role) ? roles[role] : undefined;
  return play === undefined ? 2 : play(args, line => process.stdout.write(`${line}\n`));
}
