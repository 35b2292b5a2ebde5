interface ToldEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Tool {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/**
 * The contract's events of the task without what agents differ in: names and ids, times, what they said in between, when they propose a call,
 * calls that nobody has to be asked about, and the call by which they ask a person.
 */
export function contractFacts(events: readonly object[]): readonly string[] {
  const told = events as readonly ToldEvent[];
  const steps = ['edit', 'command'].values();
  /** What a question is about, by its id, and by what it shows. */
  const asked = new Map<string, string>();
  const shown = new Map<string, string>();
  for (const event of told) {
    if (event.type !== 'approval.requested') continue;
    const tool = event.tool as Tool;
    if (isRead(tool)) continue;
    const label = tool.name === 'choice' ? 'decision' : (steps.next().value ?? 'more');
    asked.set(String(event.approvalId), label);
    shown.set(keyOf(tool), label);
  }
  const calls = new Map<string, string>();
  for (const event of told) {
    if (event.type !== 'tool.proposed') continue;
    const label = shown.get(keyOf(event.tool as Tool));
    if (label !== undefined) calls.set((event.tool as Tool).id, label);
  }
  return told.flatMap(event => factOf(event, asked, calls));
}

function factOf(
  event: ToldEvent,
  asked: ReadonlyMap<string, string>,
  calls: ReadonlyMap<string, string>,
): readonly string[] {
  const question = asked.get(String(event.approvalId));
  const call = calls.get(String(event.toolId));
  switch (event.type) {
    case 'approval.requested':
      return question === undefined ? [] : [`${event.type} ${question}`];
    case 'approval.resolved':
      return question === undefined ? [] : [`${event.type} ${question} ${fieldOf(event.resolution, 'status')}`];
    case 'tool.started':
      return call === undefined ? [] : [`${event.type} ${call}`];
    case 'tool.completed':
      return call === undefined
        ? []
        : [`${event.type} ${call} ${fieldOf(event.result, 'ok') === true ? 'ok' : 'failed'}`];
    case 'message.assistant.final': {
      const said = /Done\.$/.exec(String(fieldOf(event.message, 'content')));
      return said === null ? [] : ['message Done.'];
    }
    case 'artifact.created':
      return [`artifact ${fieldOf(event.artifact, 'kind')}`];
    case 'node.patch':
      return [`node ${fieldOf(event.patch, 'status')}`];
    case 'run.phase':
      return [`phase ${event.phase}`];
    default:
      return [];
  }
}

/** goose asks about everything. */
function isRead({ args }: Tool): boolean {
  return JSON.stringify(args).includes('cat ');
}

function keyOf({ name, args }: Tool): string {
  return JSON.stringify([name, args]);
}

function fieldOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name];
}
