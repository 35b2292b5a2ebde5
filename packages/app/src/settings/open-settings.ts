import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  type Clock,
  type Json,
  type ProviderReference,
  type SettingItem,
  type SettingSource,
  type Settings,
  type ToolPolicy,
  timestampOf,
} from '@signalbox/model';
import { needsApproval } from '@signalbox/state';
import type { Preferences } from '@signalbox/workflow';
import type { ToolFacts } from '../agents/offered-tools.ts';
import { guidedPreferences, readGuidedPreferences } from '../guided/guided-config.ts';
import { readPlanRoots } from '../host/plan-places.ts';
import { DEFAULT_LOG_BYTES, DEFAULT_LOG_LEVEL, type LogSettings, readLogSettings } from '../logs/log-config.ts';
import { readRetention } from '../retention/retention-config.ts';
import { readCommandSettings } from '../sandbox/command-config.ts';
import { openSecrets } from '../secrets/open-secrets.ts';
import { CONFIG_FILE, readConfigFile } from './config-file.ts';
import { editorFault, readEditorUrl } from './editor-config.ts';

/** The settings of a data directory's process: as currently written, and as applied. Read-only. */
export interface SettingsDesk {
  read(): Promise<Omit<Settings, 'user'>>;
}

export interface SettingsOptions {
  readonly dataDirectory: string;
  /** Where the directory was specified. */
  readonly directoryFrom: 'environment' | 'program' | 'default';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The settings with which logs were opened. */
  readonly logs: LogSettings;
  readonly providers: readonly ProviderReference[];
  readonly tools: () => Promise<readonly ToolFacts[]>;
  /** Where guided workflows are looked for. */
  readonly workflowDirectories: readonly string[];
  /** Directories that plans may be started from, besides the configured ones. */
  readonly planRoots: readonly string[];
}

/** The parts of the configuration that are in use. */
const KNOWN_PARTS: readonly string[] = [
  'agents',
  'commands',
  'editor',
  'fleet',
  'limits',
  'logs',
  'meter',
  'notify',
  'plans',
  'retention',
  'secrets',
  'telemetry',
  'workflows',
];

export function openSettings(options: SettingsOptions): SettingsDesk {
  const { dataDirectory, env, clock, providers } = options;
  const startedAt = timestampOf(clock);
  const preferences = guidedPreferences(dataDirectory);
  const { filter } = openSecrets({ dataDirectory, env, readOnly: true });
  return {
    async read() {
      const items = itemsOf({ ...options, preferences });
      const retention = readRetention(dataDirectory);
      const settings: Omit<Settings, 'user'> = {
        startedAt,
        sources: sourcesOf(options),
        items,
        needsRestart: items.some(item => item.needsRestart),
        ...(retention.ok && { retention: retention.value }),
        providers,
        tools: (await options.tools()).map(policyOf),
      };
      return filter.data(settings);
    },
  };
}

function itemsOf({
  dataDirectory,
  directoryFrom,
  logs,
  workflowDirectories,
  planRoots,
  preferences,
}: SettingsOptions & { readonly preferences: Preferences }): readonly SettingItem[] {
  const parts = readConfigFile(dataDirectory);
  const isWritten = (part: string, name: string) => {
    const given = parts.ok ? parts.value?.[part] : undefined;
    return typeof given === 'object' && given !== null && Object.hasOwn(given, name);
  };
  const retention = readRetention(dataDirectory);
  const days = (name: 'collapseAfterDays' | 'removeAfterDays', about: string): SettingItem => ({
    name: `retention.${name}`,
    about,
    ...(retention.ok && { desired: retention.value[name] }),
    applied: retention.ok ? retention.value[name] : null,
    from: retention.ok && isWritten('retention', name) ? 'file' : 'default',
    counts: 'at-once',
    needsRestart: false,
  });
  const desiredLogs = readLogSettings(dataDirectory);
  const log = (name: 'level' | 'maxBytes', unless: Json, about: string): SettingItem => {
    const desired = desiredLogs.ok ? (desiredLogs.value[name] ?? unless) : undefined;
    const applied = logs[name] ?? unless;
    return {
      name: `logs.${name}`,
      about,
      ...(desired !== undefined && { desired }),
      applied,
      from: desiredLogs.ok && isWritten('logs', name) ? 'file' : 'default',
      counts: 'after-restart',
      needsRestart: desired !== undefined && desired !== applied,
    };
  };
  const told = (name: string, value: Json, from: SettingItem['from'], about: string): SettingItem => ({
    name,
    about,
    desired: value,
    applied: value,
    from,
    counts: 'after-restart',
    needsRestart: false,
  });
  const desiredPreferences = readGuidedPreferences(dataDirectory);
  const preference = (name: keyof Preferences, about: string): SettingItem => {
    const desired = desiredPreferences.ok ? desiredPreferences.value[name] : undefined;
    return {
      name: `workflows.${name}`,
      about,
      ...(desired !== undefined && { desired }),
      applied: preferences[name],
      from: desiredPreferences.ok && isWritten('workflows', name) ? 'file' : 'default',
      counts: 'after-restart',
      needsRestart: desired !== undefined && desired !== preferences[name],
    };
  };
  const configuredRoots = readPlanRoots(dataDirectory);
  const roots = [...planRoots, ...(configuredRoots.ok ? configuredRoots.value : [])];
  return [
    told('dataDirectory', dataDirectory, directoryFrom, 'Where Signalbox keeps its data.'),
    told(
      'workflows.directories',
      workflowDirectories,
      'program',
      'Where guided workflows are searched, in this order.',
    ),
    preference('autonomy', 'Default autonomy of agents in a guided session.'),
    preference('riskPolicy', 'Default risk policy of agents in a guided session.'),
    {
      name: 'plans.roots',
      about: 'Directories that plans may be started from over REST, MCP and the console.',
      ...(configuredRoots.ok && { desired: roots }),
      applied: roots,
      from: configuredRoots.ok && isWritten('plans', 'roots') ? 'file' : 'program',
      counts: 'at-once',
      needsRestart: false,
    },
    days('collapseAfterDays', 'Days after its end until a run is collapsed to its significant frames.'),
    days('removeAfterDays', 'Days after its end until a run is removed.'),
    unconfined(dataDirectory, isWritten('commands', 'allowUnconfined')),
    {
      name: 'editor.url',
      about: 'The address that opens a place of a plan in an editor; empty for no links.',
      desired: readEditorUrl(dataDirectory),
      applied: readEditorUrl(dataDirectory),
      from: isWritten('editor', 'url') ? 'file' : 'default',
      counts: 'at-once',
      needsRestart: false,
    },
    log('level', DEFAULT_LOG_LEVEL, "The minimum level of a run's log."),
    log('maxBytes', DEFAULT_LOG_BYTES, "The maximum size of a run's log."),
  ];
}

function unconfined(dataDirectory: string, isWritten: boolean): SettingItem {
  const settings = readCommandSettings(dataDirectory);
  return {
    name: 'commands.allowUnconfined',
    about: "Whether agents' commands may run unconfined, each approved by a person, if no sandbox works.",
    ...(settings.ok && { desired: settings.value.allowUnconfined }),
    applied: settings.ok && settings.value.allowUnconfined,
    from: settings.ok && isWritten ? 'file' : 'default',
    counts: 'at-once',
    needsRestart: false,
  };
}

function sourcesOf({ dataDirectory, env, providers, workflowDirectories }: SettingsOptions): readonly SettingSource[] {
  const file = path.join(dataDirectory, CONFIG_FILE);
  const variable = (name: string, about: string): SettingSource => ({
    kind: 'environment',
    name,
    about,
    isThere: Boolean(env[name]?.trim()),
  });
  const variables = new Map<string, string>([['SIGNALBOX_DATA_DIR', 'Where Signalbox keeps its data.']]);
  for (const { name, key, baseUrlName } of providers) {
    if (key !== undefined && !variables.has(key.name)) variables.set(key.name, `The key for ${name}.`);
    if (baseUrlName !== undefined && !variables.has(baseUrlName)) variables.set(baseUrlName, `The address of ${name}.`);
  }
  const problem = problemOf(dataDirectory);
  return [
    {
      kind: 'file',
      name: file,
      about: 'Retention, logs, the directories of plans, and whether commands may run unconfined.',
      isThere: existsSync(file),
      ...(problem !== undefined && { problem }),
    },
    ...workflowDirectories.map(
      (directory): SettingSource => ({
        kind: 'directory',
        name: directory,
        about: 'Guided workflows.',
        isThere: existsSync(directory),
      }),
    ),
    ...[...variables].map(([name, about]) => variable(name, about)),
  ];
}

/** The problems of the configuration, as text. */
function problemOf(dataDirectory: string): string | undefined {
  const parts = readConfigFile(dataDirectory);
  if (!parts.ok) return `It is not used: ${parts.error}.`;
  const [retention, logs] = [readRetention(dataDirectory), readLogSettings(dataDirectory)];
  const commands = readCommandSettings(dataDirectory);
  const roots = readPlanRoots(dataDirectory);
  const editor = editorFault(dataDirectory);
  const problems = [
    ...(retention.ok ? [] : [`Nothing is collected. ${retention.error.message}`]),
    ...(logs.ok ? [] : [`Logs use the defaults: ${logs.error}.`]),
    ...(roots.ok ? [] : [`No additional plan directories are used: ${roots.error}.`]),
    ...(commands.ok ? [] : [`No command runs unconfined: ${commands.error}.`]),
    ...(editor === undefined ? [] : [`No place is linked to an editor: ${editor}.`]),
    ...unknownParts(Object.keys(parts.value ?? {})),
  ];
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** A name that is more than a word is not shown: it may be a misplaced secret. */
function unknownParts(names: readonly string[]): readonly string[] {
  const unknown = names.filter(name => !KNOWN_PARTS.includes(name));
  if (unknown.length === 0) return [];
  const words = unknown.filter(name => /^[a-z]{1,24}$/i.test(name)).slice(0, 5);
  const shown = words.length === 0 ? '' : `, such as ${words.join(', ')}`;
  return [`It has ${unknown.length} unknown parts${shown}; the known ones are ${KNOWN_PARTS.join(', ')}.`];
}

function policyOf(tool: ToolFacts): ToolPolicy {
  const { name, description, risk, effects } = tool;
  const asks = needsApproval(tool, 'skip') ? 'always' : needsApproval(tool, 'gated') ? 'gated' : 'never';
  return { tool: name, about: description, risk, effects: effects.kind, asks };
}
