import type { AgentEvent, AgentEventType, ConsoleArea } from '@signalbox/model';

/** A place, and the part of it. */
interface AreaPart {
  readonly area: ConsoleArea;
  readonly part: string;
}

export interface EventRoute {
  /** Null: kept, and shown to nobody at first. */
  readonly primary: AreaPart | null;
  readonly secondary: readonly AreaPart[];
}

const at = (area: ConsoleArea, part: string): AreaPart => ({ area, part });
const route = (primary: AreaPart | null, ...secondary: readonly AreaPart[]): EventRoute => ({
  primary,
  secondary,
});

/** The specification's table of classification rules, and the events that were added to it. */
export const eventRoutes: { readonly [Type in AgentEventType]: EventRoute } = {
  decision: route(at('queue', 'queue'), at('briefing', 'activity')),
  artifact: route(at('map', 'knowledge'), at('brief_editor', 'agents')),
  coherence: route(at('map', 'coherence'), at('briefing', 'attention')),
  status: route(at('briefing', 'activity')),
  tool_call: route(at('controls', 'decision_log')),
  completion: route(at('briefing', 'narrative'), at('controls', 'trust')),
  error: route(at('briefing', 'alert'), at('controls', 'errors')),
  delegation: route(at('briefing', 'activity'), at('map', 'topology')),
  guardrail: route(at('controls', 'decision_log'), at('briefing', 'alert')),
  lifecycle: route(at('briefing', 'activity'), at('controls', 'agents')),
  progress: route(at('briefing', 'activity')),
  raw_provider: route(null, at('controls', 'debug')),
  'message.assistant.delta': route(at('briefing', 'activity')),
  'message.assistant.final': route(at('briefing', 'activity')),
  usage: route(at('controls', 'usage')),
};

/** Where an event is shown. A guardrail alerts only if it tripped. */
export function routeOf(event: AgentEvent): EventRoute {
  const found = eventRoutes[event.type];
  return event.type === 'guardrail' && !event.tripped ? { ...found, secondary: [] } : found;
}
