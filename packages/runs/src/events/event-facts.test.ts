import { internalEventTypes } from '@signalbox/model';
import { expect, it } from 'vitest';
import { eventFacts } from './event-facts.ts';
import { internalEvent } from './internal-event.ts';

it('the types of events are those that browsers know, in one order, and each has its facts', () => {
  const types = internalEvent.options.map(({ shape }) => shape.type.value);
  expect(types).toEqual([...internalEventTypes]);
  expect(Object.keys(eventFacts)).toEqual([...internalEventTypes]);
});
