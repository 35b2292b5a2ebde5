import path from 'node:path';
import { providerKeyNames } from '@signalbox/adapters/providers';
import { err, ok, type Result } from '@signalbox/model';
import { readPlainFile } from '@signalbox/plan/plain-file';
import * as z from 'zod';
import { projectOf } from '../host/plan-places.ts';
import { basicEnvironment, chosenVariables, type Environment, type ProcessEnvironment } from './basic-environment.ts';
import type { PlanSource } from './thread-api.ts';

/** Where a project declares what its plans need. */
const PLANS_FILE = path.join('.signalbox', 'plans.json');

const settings = z.strictObject({
  /** Names of variables that its plans see. */
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be the name of a variable'))
    .max(256)
    .optional(),
});

/**
 * The environment of a plan: the basics, and what its project declares. Provider keys are withheld, declared or not: agents call models,
 * plans do not. Returns why a declaration is invalid.
 */
export function planEnvironment(source: PlanSource, env: ProcessEnvironment): Result<Environment, string> {
  const declared = declaredBy(source);
  if (!declared.ok) return declared;
  if (declared.value.length === 0) return ok(basicEnvironment(env));
  const withheld = providerKeyNames();
  const isDeclared = (name: string) =>
    declared.value.includes(name) && !withheld.includes(name) && !name.startsWith('SIGNALBOX_');
  return ok({ ...basicEnvironment(env), ...chosenVariables(env, isDeclared) });
}

function declaredBy(source: PlanSource): Result<readonly string[], string> {
  const file = source.kind === 'file' ? source.file : path.join(source.root, source.entry);
  const project = projectOf(path.dirname(file));
  if (project === undefined) return ok([]);
  const place = path.join(project, PLANS_FILE);
  let text: string;
  try {
    text = readPlainFile(place).toString();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? ok([]) : err(`${place} cannot be read (${code})`);
  }
  try {
    const parsed = settings.safeParse(JSON.parse(text));
    if (parsed.success) return ok(parsed.data.env ?? []);
    const [issue] = parsed.error.issues;
    return err(`${place} does not fit: ${issue?.path.join('.')} ${issue?.message ?? ''}`);
  } catch {
    return err(`${place} is not JSON`);
  }
}
