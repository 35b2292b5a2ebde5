import type { FleetReads } from '@signalbox/app/fleet';
import { shown } from '../terminal.ts';

type Agent = ReturnType<FleetReads['agents']>[number];
type Detail = Extract<ReturnType<FleetReads['agent']>, { ok: true }>['value'];
type Brakes = ReturnType<FleetReads['brakes']>['brakes'];
type Queued = ReturnType<FleetReads['queue']>[number];

const standingWords: Readonly<Record<Agent['standing'], string>> = {
  working: 'working',
  waiting_for_you: 'waiting for you',
  blocked: 'blocked',
  done: 'done',
  failed: 'failed',
  dead: 'dead',
};

export function describeAgents(agents: readonly Agent[]): readonly string[] {
  if (agents.length === 0) return ['There are no agents. Spawn one with: signalbox fleet spawn NAME --plugin PLUGIN'];
  return agents.map(describeAgent);
}

function describeAgent({ id, name, role, workstream, of, standing, because, pendingDecisions, trust }: Agent): string {
  const place = of === undefined ? `${role}, ${workstream}` : `node of ${of.plan}, run ${of.run.slice(0, 8)}`;
  const asks = pendingDecisions === 0 ? '' : ` · ${pendingDecisions} to decide`;
  const why = because === undefined ? '' : ` · ${because}`;
  return shown(
    `${id.slice(0, 8)}  ${standingWords[standing].padEnd(15)}  ${name} (${place}) · trust ${trust}${asks}${why}`,
  );
}

export function describeDetail(agent: Detail): readonly string[] {
  const { pendingBriefChanges } = agent.handle;
  return [
    describeAgent(agent),
    `id          ${agent.id}`,
    `plugin      ${agent.pluginName}`,
    ...(agent.of === undefined ? [] : [`run         ${agent.of.run}, node ${agent.of.node} of plan ${agent.of.plan}`]),
    `status      ${agent.status}, session ${agent.lives}, ${agent.eventsEmitted} events, ${agent.crashes} crashes`,
    `checkpoints ${agent.checkpoints}`,
    ...(pendingBriefChanges === undefined
      ? []
      : [`pending     ${Object.keys(pendingBriefChanges).join(', ')} change at the next start`]),
    `brief       ${agent.brief.description}`,
    'history',
    ...agent.history.map(({ at, what }) => `  ${at}  ${what}`),
  ].map(shown);
}

export function describeBrakes(brakes: Brakes): readonly string[] {
  if (brakes.length === 0) return ['No brake was engaged yet.'];
  return brakes.flatMap(({ id, action, agents, released }) => [
    shown(
      `${id.slice(0, 8)}  ${released === undefined ? 'engaged' : `released by ${released.by}`}  ${action.behavior} ${scopeWords(action.scope)}: ${action.reason}`,
    ),
    ...agents.map(
      ({ agentId, outcome, silentAfterMs, refusedEvents }) =>
        `  ${agentId.slice(0, 8)}  ${outcome.replace('_', ' ')}${silentAfterMs === null ? '' : ` after ${Math.round(silentAfterMs)} ms`}${refusedEvents === 0 ? '' : `, ${refusedEvents} later events refused`}`,
    ),
  ]);
}

function scopeWords(scope: Brakes[number]['action']['scope']): string {
  switch (scope.type) {
    case 'all':
      return 'all agents';
    case 'agent':
      return `agent ${scope.agentId.slice(0, 8)}`;
    case 'workstream':
      return `workstream ${scope.workstream}`;
  }
}

export function describeQueued(queued: Queued): string {
  if (queued.from === 'run') return queued.approval.approvalId;
  const { id, subject, severity, blastRadius, badges, agentName, status, resolution } = queued.decision;
  const marks = badges.map(badge => ` · ${badge.replace('_', ' ')}`).join('');
  const lines = [`${id}  agent ${agentName} · ${severity} · ${blastRadius}${marks}`, ...questionLines(subject)];
  return [
    ...lines,
    status === 'open'
      ? answerLine(id, subject)
      : `  ${status}${resolution === undefined ? '' : `: ${resolution.resolutionType.replace('_', ' ')}`}`,
  ]
    .map(shown)
    .join('\n');
}

type Subject = Extract<Queued, { readonly from: 'agent' }>['decision']['subject'];

function questionLines(subject: Subject): readonly string[] {
  if (subject.subtype === 'tool_approval') return [`  ${subject.toolName} ${JSON.stringify(subject.toolArgs)}`];
  return [
    `  ${subject.title}`,
    ...subject.options.map(
      ({ id, label }) => `    ${id}  ${label}${id === subject.recommendedOptionId ? ' (recommended)' : ''}`,
    ),
  ];
}

function answerLine(id: string, subject: Subject): string {
  if (subject.subtype === 'tool_approval') return `  signalbox approve ${id}`;
  return `  signalbox approve ${id} --option ${subject.recommendedOptionId ?? subject.options[0]?.id ?? ''}`;
}
