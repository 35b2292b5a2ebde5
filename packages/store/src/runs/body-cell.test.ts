import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyOfCell, cellOfBody, UNREADABLE } from './body-cell.ts';

/** A step of a plan, as a driver commits it. */
const step = JSON.stringify({
  salt: 'ut9qtYgpsGBFHLJ0',
  frame: { index: 99, trigger: { kind: 'task', detail: 'task_finished', keys: ['k48'] }, written: ['k48'] },
  intervals: [['status', 'n98', { set: { status: 'succeeded', iteration: 0 } }]],
  tasks: [{ id: 'cfeb9c3d-94d6-56b4-910d-b8f06162ffcc', node: 'n98', status: 'done', result: { n: 98 } }],
  events: [['task.ended', 0, false], ['frame.committed']],
});

/** Cells as they were once stored, by their format: they are read for ever. */
const FROZEN_DEFLATED =
  'AYOXUKUlloUlkekFxe5Obh4+XqBkhV5iWVpSVCSZWGCUSVAhzBIIklssLUjMxZiJOTktNcky2ThF19IkxUzX1CzJRNfS0CBFN8kizcDM0MwoLS0Z1M6FJQyQjRhJHJEo85SsLC1Qa3icMY0lsAE=';

const FROZEN_LZ4 =
  'AqGcK/cFogTwAHV0OXF0WWdwc0dCRkhMSlcCAS8AAIwBA7IENjk5LGsCD5MEHy00OJQEAxMADoIEALoATyJuOTgvAwEPxgMIDs0C8BRjZmViOWMzZC05NGQ2LTU2YjQtOTEwZC1iOGYwNjE2MmZmY+gKADMBABkCAHIAAaQBEHULAgPjAgaVAlBuIjo5ONQDD+oBEAE+AQVtAVBkIl1dfQ==';

describe('the body of a record in its column', () => {
  it('[D220] is the same text, whatever it says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 4000 }), text => {
        const body = JSON.stringify({ salt: 'x', text });
        expect(bodyOfCell(cellOfBody(body))).toBe(body);
      }),
    );
  });

  it('[D220] is the same text at every length around which its form changes', () => {
    for (const length of [100, 127, 128, 10_922, 10_923, 40_000]) {
      for (const unit of ['x', 'ü', '語']) {
        const body = JSON.stringify({ pad: '', step }).padEnd(length, unit);
        expect(bodyOfCell(cellOfBody(body))).toBe(body);
      }
    }
  });

  it('[D220] takes less than half the room for a step, and no more than its text for anything', () => {
    const cell = cellOfBody(step);
    expect(cell).toBeInstanceOf(Uint8Array);
    expect(cell.length).toBeLessThan(step.length / 2);
    expect(cellOfBody('{"salt":"x"}')).toBe('{"salt":"x"}');
    fc.assert(
      fc.property(fc.base64String({ minLength: 100, maxLength: 400 }), text => {
        expect(cellOfBody(JSON.stringify({ text })).length).toBeLessThanOrEqual(JSON.stringify({ text }).length);
      }),
    );
  });

  it('[D222] is read by every later version', () => {
    for (const [format, cell] of [
      [1, FROZEN_DEFLATED],
      [2, FROZEN_LZ4],
    ] as const) {
      const bytes = Buffer.from(cell, 'base64');
      expect([bytes[0], bodyOfCell(bytes)]).toEqual([format, step]);
    }
  });

  it('[D221] that was changed is another text or none: no byte can be flipped, added or cut off', () => {
    const cell = Buffer.from(cellOfBody(step));
    for (const at of cell.keys()) {
      const flipped = Buffer.from(cell);
      flipped[at] = (flipped[at] ?? 0) ^ 0xff;
      expect(bodyOfCell(flipped)).not.toBe(step);
      expect(bodyOfCell(cell.subarray(0, at))).toBe(UNREADABLE);
    }
    expect(bodyOfCell(Buffer.concat([cell, Buffer.from('x')]))).toBe(UNREADABLE);
    const large = Buffer.from(cellOfBody(JSON.stringify({ step, pad: 'x'.repeat(20_000) })));
    for (const at of large.keys()) expect(bodyOfCell(large.subarray(0, at))).toBe(UNREADABLE);
    for (const other of [1, 1n, null, new Uint8Array()]) expect(bodyOfCell(other)).toBe(UNREADABLE);
  });

  it('[D221] that would fill the memory is none', () => {
    const bomb = Buffer.concat([
      Buffer.from([1]),
      deflateRawSync(Buffer.alloc(64 * 1024 * 1024, ' '), { windowBits: 13 }),
    ]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(bodyOfCell(bomb)).toBe(UNREADABLE);
    const small = Buffer.concat([Buffer.from([1]), deflateRawSync(Buffer.alloc(1024, ' '), { windowBits: 13 })]);
    expect(bodyOfCell(small)).toBe(' '.repeat(1024));
    // One byte, repeated for a thousand bytes of length.
    const block = Buffer.from([0x1f, 0x20, 1, 0, ...Array<number>(1000).fill(255), 0, 0x10, 0x20]);
    const head = Buffer.from([2, 0, 0, 0, 0]);
    head.writeUInt32LE(crc32(block), 1);
    expect(bodyOfCell(Buffer.concat([head, block]))).toBe(UNREADABLE);
  });
});
