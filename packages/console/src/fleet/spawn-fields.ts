import type { InputOf } from '@signalbox/model';

/** The form of an agent to be started. */
export interface SpawnFields {
  readonly name: string;
  readonly plugin: string;
  readonly role: string;
  readonly workstream: string;
  readonly description: string;
  /** Below the project's. */
  readonly directory: string;
}

export const noSpawnFields: SpawnFields = {
  name: '',
  plugin: '',
  role: 'Agent',
  workstream: 'main',
  description: '',
  directory: '.',
};

/** What is wrong with the form, by field; empty if it can be sent. */
export function spawnFaults(fields: SpawnFields): Partial<Readonly<Record<keyof SpawnFields, string>>> {
  const missing = (['name', 'plugin', 'role', 'workstream', 'description'] as const).filter(
    field => fields[field].trim() === '',
  );
  const directory = fields.directory.trim();
  const isOutside = /^([/\\]|[A-Za-z]:)/.test(directory) || directory.split(/[/\\]/).includes('..');
  return {
    ...Object.fromEntries(missing.map(field => [field, 'Required'])),
    ...(isOutside && { directory: 'A path below the project, such as packages/api' }),
  };
}

export function spawnOf({
  name,
  plugin,
  role,
  workstream,
  description,
  directory,
}: SpawnFields): InputOf<'spawnAgent'> {
  const hostPath = directory.trim() === '' ? '.' : directory.trim();
  const mounts = [{ hostPath, sandboxPath: '/workspace', readOnly: false }];
  return {
    name: name.trim(),
    plugin,
    brief: {
      role: role.trim(),
      workstream: workstream.trim(),
      description: description.trim(),
      ...(hostPath !== '.' && { workspaceRequirements: { mounts, capabilities: [] } }),
    },
  };
}
