import * as z from 'zod';
import { configParts } from '../../packages/app/src/settings/config-parts.ts';

/** `docs/reference/configuration.md`: every key of `config.json`, with type, default and meaning. */
export function configurationReference(): string {
  const rows = Object.entries(configParts).flatMap(([part, schema]) =>
    rowsOf(part, z.toJSONSchema(schema, { io: 'input' }) as Shape),
  );
  const missing = rows.filter(([key]) => told[key] === undefined).map(([key]) => key);
  const surplus = Object.keys(told).filter(key => !rows.some(([known]) => known === key));
  if (missing.length + surplus.length > 0) {
    throw new Error(`scripts/reference/configuration-reference.ts: say what ${[...missing, ...surplus].join(', ')} is`);
  }
  return `${[
    '# Configuration',
    '<!-- Generated from packages/app/src/settings/config-parts.ts by scripts/reference/configuration-reference.ts; edits are lost. -->',
    `\`config.json\` in the data directory holds what a person decides for all runs. Every key may be left out. An unknown key, or a value that does not fit, is reported by
\`signalbox doctor\` and by the console, and loosens nothing. \`signalbox doctor\` says where the data directory is.`,
    EXAMPLE,
    ['| key | type | default | meaning |', '|---|---|---|---|', ...rows.map(rowText)].join('\n'),
    '## Of a project',
    `Files in \`.signalbox\` of a project hold what belongs to it: \`plans.json\` the variables that plans see ([plans and trust](../plans-and-trust.md)), \`sandbox.json\` what commands may
do ([the sandbox](../sandbox.md); a person accepts changes), \`workflows/\` guided workflows ([the format](../workflow-format.md)).`,
    '## Variables',
    [
      '| variable | meaning |',
      '|---|---|',
      '| `SIGNALBOX_DATA_DIR` | the data directory; `--data-dir` overrides it |',
      '| `XDG_DATA_HOME` | on Linux, the parent of the default data directory |',
      '| `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` | keys of the providers of the built-in agent, read by the owner of the data directory |',
      '| `NO_COLOR`, `TERM=dumb` | no colours; no live tree |',
    ].join('\n'),
  ].join('\n\n')}\n`;
}

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly default?: unknown;
}

type Row = readonly [key: string, shape: Shape];

function rowsOf(key: string, shape: Shape): readonly Row[] {
  if (shape.properties !== undefined) {
    return Object.entries(shape.properties).flatMap(([name, part]) => rowsOf(`${key}.${name}`, part));
  }
  const rest = shape.additionalProperties;
  if (typeof rest === 'object' && rest.properties !== undefined) return rowsOf(`${key}.NAME`, rest);
  return [[key, shape]];
}

function rowText([key, shape]: Row): string {
  const fallback = shape.default === undefined ? told[key]?.[1] : JSON.stringify(shape.default);
  return `| \`${key}\` | ${typeText(shape)} | ${fallback === undefined ? '–' : `\`${fallback}\``} | ${told[key]?.[0]} |`;
}

function typeText(shape: Shape): string {
  if (shape.enum !== undefined) return shape.enum.map(value => `\`${value}\``).join(', ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeText).join(' or ');
  if (shape.const !== undefined) return `\`${JSON.stringify(shape.const)}\``;
  if (shape.type === 'array') return `list of ${shape.items?.type ?? 'value'}s`;
  if (shape.type === 'object') return 'text by name';
  return shape.type === 'string' ? 'text' : (shape.type ?? 'any');
}

const EXAMPLE = `\`\`\`json
{
  "retention": { "collapseAfterDays": 30, "removeAfterDays": 365 },
  "plans": { "roots": ["/srv/plans"] },
  "workflows": { "autonomy": "guided" },
  "secrets": { "variables": ["DATABASE_URL"] }
}
\`\`\``;

/** What each key means, and its default where the schema has none. */
const told: Readonly<Record<string, readonly [meaning: string, fallback?: string]>> = {
  'agents.NAME.command': [
    'The program and arguments of an agent of your own, which speaks ACP ([agents](../agents.md)).',
  ],
  'agents.NAME.title': ['How it is shown.', 'NAME'],
  'agents.NAME.variables': ['Names of the variables that it sees.'],
  'agents.NAME.settings': ['Variables that are set for it; `{home}` and `{root}` are replaced.'],
  'agents.NAME.mode': ['The mode in which it asks before it changes something.'],
  'commands.allowUnconfined': [
    "Whether agents' commands run without a sandbox where none works ([the sandbox](../sandbox.md)).",
  ],
  'editor.url': [
    'The address that opens a place of a file, with `{file}`, `{line}` and `{column}`; empty for no links.',
    'vscode://file/{file}:{line}:{column}',
  ],
  'limits.run.tokens': [
    'The most tokens of a run that is started without limits of its own ([the meter](../meter.md)).',
  ],
  'limits.run.costUsd': ['The most dollars of such a run.'],
  'limits.day.tokens': ['The most tokens of all runs on one day (UTC).'],
  'limits.day.costUsd': ['The most dollars of all runs on one day.'],
  'limits.projects.NAME.tokens': ['The most tokens of the runs of a directory and everything below it.'],
  'limits.projects.NAME.costUsd': ['The most dollars of these runs.'],
  'limits.projects.NAME.day.tokens': ['Their most tokens on one day.'],
  'limits.projects.NAME.day.costUsd': ['Their most dollars on one day.'],
  'meter.prompts': ['Whether the requests and answers of agents’ calls are kept.', 'true'],
  'meter.promptBytes': ['Bytes of them that are kept of one run.', '67108864'],
  'telemetry.endpoint': ['The address of a collector for OTLP over HTTP ([telemetry](../meter.md#telemetry)).'],
  'fleet.project.title': ['What the project of the fleet is called ([the fleet](../fleet.md)).'],
  'fleet.project.description': ['What it is about.'],
  'fleet.project.goals': ['What it wants to reach.'],
  'fleet.project.checkpoints': ['Where it wants to be looked at.'],
  'fleet.ticks.intervalMs': ['Milliseconds between two ticks.', '1000'],
  'fleet.ticks.mode': ['Whether ticks follow the clock.', 'wall_clock'],
  'fleet.trust': ['The preset of how trust grows and falls.', 'balanced'],
  'fleet.calibrationMode': ['Records trust as it would be, without changing it.', 'false'],
  'fleet.crashRecovery.autoRestart': ['Whether agents whose process died are started again.', 'false'],
  'fleet.crashRecovery.autoRestartConditions.minTrustScore': ['Only with at least this trust.', '70'],
  'fleet.crashRecovery.autoRestartConditions.maxConsecutiveCrashes': ['At most so often in a row.', '3'],
  'fleet.crashRecovery.autoRestartConditions.cooldownMs': [
    'And not sooner than this, in milliseconds, after the last time.',
    '30000',
  ],
  'fleet.crashRecovery.preferResumeOverRestart': ['Whether the session is resumed where the agent can.', 'true'],
  'logs.level': ["The least level of a run's log ([logs](../logs.md)).", 'debug'],
  'logs.maxBytes': ["The size limit of a run's log.", '16777216'],
  'notify.webhook': ['An address that gets a POST with JSON for each notice ([`signalbox notify`](cli.md)).'],
  'notify.command': ['A program and its arguments, which gets the notice as JSON on its standard input.'],
  'notify.kinds': ['What is told: `decision`, `failed`, `completed`.', '["decision"]'],
  'notify.quiet.from': ['From this time of the day nothing is told, such as `22:00`.'],
  'notify.quiet.to': ['Until this time of the day.'],
  'plans.roots': [
    'More directories from which plans may be started over REST, MCP and the console ([plans and trust](../plans-and-trust.md)).',
  ],
  'retention.collapseAfterDays': [
    'After so many days a run keeps only significant frames; null for never ([retention](../retention.md)).',
  ],
  'retention.removeAfterDays': ['After so many days a run is removed by `signalbox gc`; null for never.'],
  'secrets.variables': ['Variables with secret values despite their names ([secrets](../secrets.md)).'],
  'workflows.autonomy': [
    'How far agents go in guided sessions ([guided workflows](../guided-workflows.md)).',
    'guided',
  ],
  'workflows.riskPolicy': ['How careful they are.', 'conservative'],
};
