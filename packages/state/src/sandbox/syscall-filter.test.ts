import * as os from 'node:os';
import { describe, expect, it } from 'vitest';
import { syscallFilter } from './syscall-filter.ts';

const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050000 | os.constants.errno.EPERM;
const UNKNOWN_FAMILY = 0x00050000 | os.constants.errno.EAFNOSUPPORT;
const TOO_LARGE = 0x00050000 | os.constants.errno.EINVAL;
const KILLED = 0x80000000;

/** Runs a filter as the kernel does. */
function answer(filter: Uint8Array, architecture: number, number: number, ...args: readonly bigint[]): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, architecture, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, value, true);
  const steps = new DataView(filter.buffer);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const value = steps.getUint32(at + 4, true);
    const jump = (holds: boolean) => {
      at += 8 * steps.getUint8(at + (holds ? 2 : 3));
    };
    switch (steps.getUint16(at, true)) {
      case 0x20:
        loaded = data.getUint32(value, true);
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
    // A socket of the family AF_UNIX, a small segment.
    expect(new Set(others.map(number => answer(filter, own, number, 1n)))).toEqual(new Set([ALLOWED]));
    // i386, and the other of the two.
    for (const foreign of [0x40000003, 0xc000003e, 0xc00000b7].filter(one => one !== own)) {
      expect([1, 248, 286, 425].map(number => answer(filter, foreign, number))).toEqual(Array(4).fill(KILLED));
    }
  });

  it.each([
    ['x64', 0xc000003e, 41],
    ['arm64', 0xc00000b7, 198],
    ['riscv64', 0xc00000f3, 198],
    ['loong64', 0xc0000102, 198],
  ] as const)('[S200] knows four families of sockets on %s', (name, own, socket) => {
    for (const isCounted of [false, true]) {
      const filter = syscallFilter(name, { isCounted }) ?? new Uint8Array();
      const known = Array.from({ length: 64 }, (_, family) => family).filter(
        family => answer(filter, own, socket, BigInt(family)) === ALLOWED,
      );
      expect(known).toEqual([1, 2, 10, 16]);
      // AF_VSOCK; the kernel looks at the low word alone.
      expect([40n, 40n + (1n << 32n)].map(family => answer(filter, own, socket, family))).toEqual([
        UNKNOWN_FAMILY,
        UNKNOWN_FAMILY,
      ]);
    }
  });

  it.each([
    ['x64', 0xc000003e, 29],
    ['arm64', 0xc00000b7, 194],
  ] as const)(
    '[S202] knows small segments of shared memory only on %s, where nothing counts them',
    (name, own, shmget) => {
      const sizes = [0n, 1n, 65_536n, 65_537n, 1n << 31n, 1n << 32n, (1n << 32n) + 1n, (1n << 64n) - 1n];
      const answers = (isCounted: boolean) => {
        const filter = syscallFilter(name, { isCounted }) ?? new Uint8Array();
        return sizes.map(size => answer(filter, own, shmget, 0n, size));
      };
      expect(answers(false)).toEqual([ALLOWED, ALLOWED, ALLOWED, ...Array(5).fill(TOO_LARGE)]);
      expect(answers(true)).toEqual(Array(8).fill(ALLOWED));
    },
  );

  it('[S172] ends what calls x86-64 by the numbers of x32, which has the same name', () => {
    const filter = syscallFilter('x64') ?? new Uint8Array();
    expect([1, 250].map(number => answer(filter, 0xc000003e, 0x40000000 + number))).toEqual([KILLED, KILLED]);
  });

  it('[S172] is not guessed for a processor whose numbers are not known', () => {
    expect(syscallFilter('mips')).toBeUndefined();
  });
});
