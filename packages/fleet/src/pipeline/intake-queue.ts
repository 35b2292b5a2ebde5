import { type AgentEventType, eventPriority, isJsonObject, type Json } from '@signalbox/model';

/** The most messages of one agent that wait to be committed. */
export const INTAKE_QUEUE_SIZE = 500;

/** Messages of one agent, oldest first, and how many were dropped since this was last reported. */
export interface IntakeQueue<Message> {
  readonly waiting: readonly Message[];
  readonly dropped: number;
}

export const emptyIntake: IntakeQueue<never> = { waiting: [], dropped: 0 };

/**
 * Adds a message. A full queue drops its oldest message that may be dropped, or the new one if it is the only one (R22). Decisions, artifacts,
 * errors and completions are never dropped: the queue grows past its size with them. Whoever drains the queue reports `dropped` as a fact.
 */
export function offered<Message>(
  { waiting, dropped }: IntakeQueue<Message>,
  message: Message,
  isDroppable: (message: Message) => boolean,
  size = INTAKE_QUEUE_SIZE,
): IntakeQueue<Message> {
  const all = [...waiting, message];
  if (all.length <= size) return { waiting: all, dropped };
  const victim = all.findIndex(isDroppable);
  if (victim === -1) return { waiting: all, dropped };
  return { waiting: all.toSpliced(victim, 1), dropped: dropped + 1 };
}

/** Whether a message that was not checked yet may be dropped: by the type it claims. One that claims none is kept, for the quarantine. */
export function mayDrop(payload: Json): boolean {
  if (typeof payload === 'string') return !/^\s*[{[]/.test(payload);
  if (!isJsonObject(payload) || !isJsonObject(payload.event)) return false;
  const { type } = payload.event;
  return (
    typeof type === 'string' &&
    Object.hasOwn(eventPriority, type) &&
    eventPriority[type as AgentEventType] === 'droppable'
  );
}
