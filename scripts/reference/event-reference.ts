import { type RunEventType, runEvent } from '@signalbox/model';
import { type InternalEventType, internalEvent } from '@signalbox/runs';
import type * as z from 'zod';

/** `docs/reference/events.md`: every event of a run with its fields. */
export function eventReference(): string {
  return `${[
    '# Events',
    '<!-- Generated from the schemas in packages/model and packages/runs, and from scripts/reference/event-reference.ts; edits are lost. -->',
    `\`signalbox events RUN --json\` and \`GET /api/runs/:run/events\` list the events of a run, and the WebSocket sends them as they happen. Each has \`v\`, \`id\`, \`runId\`, \`seq\`
(counted from 0 without gaps; it defines the order), \`ts\` and \`type\`. Fields with a question mark are optional. Both lists are closed: a new event is a new entry, and a shape
never changes.`,
    '## As stored',
    'What happened inside a run, beyond the contract: `view=stored` of the API.',
    table(internalEvent.options, INTERNAL),
    '## Of the contract',
    'The same history for programs that know nothing of plans: `view=contract`.',
    table(runEvent.options, CONTRACT),
  ].join('\n\n')}\n`;
}

type EventSchema = z.ZodObject<{ readonly type: z.ZodLiteral<string> }>;

function table(options: readonly z.ZodType[], told: Readonly<Record<string, string>>): string {
  const rows = (options as unknown as readonly EventSchema[]).map(({ shape }) => {
    const type = shape.type.value;
    const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>)
      .filter(([name]) => !ENVELOPE.includes(name))
      .map(([name, schema]) => `\`${name}${schema.safeParse(undefined).success ? '?' : ''}\``);
    return `| \`${type}\` | ${told[type]} | ${fields.join(' ') || '–'} |`;
  });
  return ['| event | when | fields |', '|---|---|---|', ...rows].join('\n');
}

const ENVELOPE = ['v', 'id', 'runId', 'seq', 'ts', 'type'];

const INTERNAL: Readonly<Record<InternalEventType, string>> = {
  'run.created': 'A run began to exist.',
  'run.claimed': 'A process became the owner of the run.',
  'run.held': 'The disk accepts no writes; the run waits.',
  'run.resumed': 'The run continues, with what changed since it was last active.',
  'run.status': 'The status of the run changed.',
  'frame.committed': 'A frame is in the log: what triggered it, and how the tree changed.',
  'node.status': 'The status of a node changed, with the reason if it is blocked.',
  'state.changed': 'A key of the durable state changed; the transition has both values.',
  'task.started': 'An attempt of a task began.',
  'task.progressed': 'A task reported progress.',
  'task.ended': 'An attempt ended.',
  'task.retry': 'An attempt failed and another is due at a time.',
  'task.orphaned': 'The owner of running work died; what happens to the work.',
  'handler.ran': 'A handler ran, in the same commit as what it wrote.',
  'handler.failed': 'A handler threw.',
  'effect.ran': 'An effect ran.',
  'effect.cleaned': 'The cleanup of an effect ran.',
  'effect.failed': 'An effect threw.',
  'file.written': "A plan's code wrote a file under its root.",
  'decision.asked': 'Something waits for a person.',
  'decision.proposed': 'What is proposed changed; earlier answers are void.',
  'decision.answered': 'A person answered.',
  'decision.withdrawn': 'The question is not needed any more.',
  'decision.delivered': 'The answer reached what asked.',
  'signal.received': 'A signal arrived from outside.',
  'operator.acted': 'A person paused, resumed, stopped, retried, canceled, reset, raised a limit or trusted.',
  'run.forked': 'The run continues from a moment of another one.',
  'state.edited': 'A person changed the durable state, with a reason.',
  'node.policy': "A node's retry policy was overridden.",
  'message.said': 'The model of an agent answered.',
  'call.proposed': 'A tool call is about to run.',
  'call.began': 'A tool call began.',
  'call.ended': 'A tool call ended.',
  'call.undone': "A tool call's changes were undone, or what its rollback overwrote was restored.",
  'run.rolled_back': 'Files were restored to a call, and the run continues from there as a fork.',
  'run.kept': 'The run was exempted from retention, or no longer is.',
  'event.gone': 'Stands for an event that was collected with its frame.',
  'run.redacted': 'A secret that was found later was removed.',
  'run.collapsed': 'Frames were collected.',
  'run.imported': 'Everything before came from a bundle.',
  'usage.recorded': 'Tokens and cost of a call are known.',
  'model.called': 'A call is about to go to its model, and may take this many tokens.',
  'model.answered': 'What became of a call of a model; what its provider did not tell is unknown, and was estimated.',
  'model.refused': 'A call was refused at a limit; it never went out.',
};

const CONTRACT: Readonly<Record<RunEventType, string>> = {
  'run.patch': 'Fields of the run changed.',
  'run.phase': 'The run entered a phase of its life.',
  'run.mode': 'The mode of the run changed.',
  'run.stalled': 'The run repeats itself.',
  'node.patch': 'Fields of a node changed, or the node is new.',
  'node.progress': 'A node reported progress.',
  'edge.created': 'A connection between nodes was made.',
  'edge.deleted': 'A connection was removed.',
  'handoff.sent': 'A node handed something to another.',
  'message.user': 'A person wrote to a node.',
  'message.assistant.delta': "A part of an agent's message.",
  'message.assistant.final': "An agent's whole message.",
  'tool.proposed': 'An agent wants to call a tool.',
  'tool.started': 'The call began.',
  'tool.completed': 'The call ended.',
  'approval.requested': 'Something waits for a person.',
  'approval.resolved': 'A person answered.',
  'artifact.created': 'An artifact was made.',
};
