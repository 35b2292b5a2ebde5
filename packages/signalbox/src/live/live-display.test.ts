import { expect, it } from 'vitest';
import { memoryScreen } from '../../test/memory-screen.ts';
import { openDisplay } from './live-display.ts';

const ESC = '\u001b[';
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];

it('draws in place, and only what changed', () => {
  const { screen, state, taken } = memoryScreen();
  let lines = ['one', 'two'];
  const display = openDisplay(screen, () => lines);
  expect(taken()).toBe(`${ESC}?25l${BEGIN}one\ntwo${END}`);
  state.tick();
  expect(taken()).toBe('');
  lines = ['one', 'three', 'four'];
  state.tick();
  expect(taken()).toBe(`${BEGIN}\r${ESC}1A${ESC}Jone\nthree\nfour${END}`);
  display.close();
  expect(taken()).toBe(`\n${ESC}?25h`);
  state.tick();
  state.end();
  expect(taken()).toBe('');
});

it('leaves what others print above what it draws, whether or not they end their line', () => {
  const { screen, state, taken } = memoryScreen();
  openDisplay(screen, () => ['tree']);
  taken();
  state.others('hello\n');
  expect(taken()).toBe(`\r${ESC}J`);
  state.tick();
  expect(taken()).toBe(`${BEGIN}tree${END}`);
  state.others('no end');
  taken();
  state.tick();
  expect(taken()).toBe(`${BEGIN}\ntree${END}`);
});

it('finds its first line again after the terminal became narrower and wrapped the others', () => {
  const { screen, state, taken } = memoryScreen();
  openDisplay(screen, ({ width }) => ['x'.repeat(width), 'y']);
  taken();
  state.width = 15;
  state.tick();
  expect(taken()).toBe(`${BEGIN}\r${ESC}3A${ESC}J${'x'.repeat(15)}\ny${END}`);
});

it('gives the cursor back when the process ends in the middle', () => {
  const { screen, state, taken } = memoryScreen();
  openDisplay(screen, () => ['tree']);
  taken();
  state.end();
  expect(taken()).toBe(`\n${ESC}?25h`);
});
