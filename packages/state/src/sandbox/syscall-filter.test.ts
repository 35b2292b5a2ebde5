import * as os from 'node:os';
import { describe, expect, it } from 'vitest';
import { syscallFilter } from './syscall-filter.ts';

const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050000 | os.constants.errno.EPERM;
const KILLED = 0x80000000;

/** Runs a filter as the kernel does. */
function answer(filter: Uint8Array, architecture: number, number: number): number {
  const steps = new DataView(filter.buffer);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const value = steps.getUint32(at + 4, true);
    const jump = (holds: boolean) => {
      at += 8 * steps.getUint8(at + (holds ? 2 : 3));
    };
    switch (steps.getUint16(at, true)) {
      case 0x20:
        loaded = value === 4 ? architecture : number;
        break;
      case 0x15:
        jump(loaded === value);
        break;
      case 0x35:
        jump(loaded >= value);
        break;
      default:
        return value;
    }
  }
}

describe('the filter of system calls', () => {
  it.each([
    ['x64', 0xc000003e, [248, 249, 250, 425, 426, 427]],
    ['arm64', 0xc00000b7, [217, 218, 219, 425, 426, 427]],
  ] as const)('[S172] refuses keyrings and io_uring on %s and lets every other call through', (name, own, refused) => {
    const filter = syscallFilter(name) ?? new Uint8Array();
    const others = Array.from({ length: 600 }, (_, number) => number).filter(
      number => !refused.includes(number as 425),
    );
    expect(new Set(refused.map(number => answer(filter, own, number)))).toEqual(new Set([NOT_PERMITTED]));
    expect(new Set(others.map(number => answer(filter, own, number)))).toEqual(new Set([ALLOWED]));
    // i386, and the other of the two.
    for (const foreign of [0x40000003, 0xc000003e, 0xc00000b7].filter(one => one !== own)) {
      expect([1, 248, 286, 425].map(number => answer(filter, foreign, number))).toEqual(Array(4).fill(KILLED));
    }
  });

  it('[S172] ends what calls x86-64 by the numbers of x32, which has the same name', () => {
    const filter = syscallFilter('x64') ?? new Uint8Array();
    expect([1, 250].map(number => answer(filter, 0xc000003e, 0x40000000 + number))).toEqual([KILLED, KILLED]);
  });

  it('[S172] is not guessed for a processor whose numbers are not known', () => {
    expect(syscallFilter('mips')).toBeUndefined();
  });
});
