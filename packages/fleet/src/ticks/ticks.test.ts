import { expect, it } from 'vitest';
import { agentNamed, optionDecision, type Scene, scene } from '../../test/scene.ts';
import { fleetState } from '../fleet-state.ts';

const wall = { config: { ticks: { intervalMs: 1000, mode: 'wall_clock' } } } as const;
const tick = (current: Scene) => current.state.ticks.current;

it('[F140] counts intervals in which somebody works or waits', () => {
  const current = scene([], wall);
  current.passes(1_000);
  current.passes(5_000);
  expect(tick(current)).toBe(0);
  const working = scene(['maya'], wall);
  working.passes(700);
  working.passes(700);
  expect(tick(working)).toBe(1);
  working.passes(1_600);
  expect(tick(working)).toBe(3);
  working.emits('maya', optionDecision('one'));
  working.passes(2_000);
  expect(tick(working)).toBe(5);
  working.emits('maya', {
    type: 'completion',
    summary: '',
    artifactsProduced: [],
    decisionsNeeded: [],
    outcome: 'success',
  });
  working.passes(9_000);
  expect(tick(working)).toBe(5);
});

it('[F140] a tenth of the interval is ten times the speed', () => {
  const current = scene(['maya'], { config: { ticks: { intervalMs: 100, mode: 'wall_clock' } } });
  current.passes(100);
  current.passes(1_000);
  expect(tick(current)).toBe(11);
});

it('[F141] advances on request in manual mode, and not by time', () => {
  const current = scene();
  current.passes(60_000);
  current.ticks(3);
  expect(tick(current)).toBe(3);
  const running = scene(['maya'], wall);
  running.ticks(3);
  expect(tick(running)).toBe(0);
});

it('[F142] is kept over restarts, and does not count time that nobody saw', () => {
  const current = scene(['maya'], wall);
  current.passes(4_000);
  expect(tick(current)).toBe(4);
  current.state = fleetState.parse(JSON.parse(JSON.stringify(current.state)));
  current.now += 30_000;
  current.happens('fleet_restarted', {});
  current.passes(1_000);
  expect(tick(current)).toBe(5);
  current.passes(3_600_000);
  expect(tick(current)).toBe(5);
  current.now -= 10_000;
  current.happens('health_polled', { agentId: agentNamed('maya'), isHealthy: true });
  current.passes(1_000);
  expect(tick(current)).toBe(6);
});
