import * as os from 'node:os';

/**
 * A system call filter (seccomp) for confined commands, as the program that the kernel runs before each call.
 *
 * 1. Keyrings belong to the user, not to a namespace: `keyctl` would read the keys of our session.
 * 2. `io_uring` performs operations in the kernel that no filter sees.
 * 3. Both fail as not permitted. Programs handle that error and work without them.
 * 4. A network namespace confines only some socket families: `AF_VSOCK` reaches the host of a virtual machine. Families that
 *    programs do not need are reported as unknown.
 * 5. No check sees a System V shared memory segment that nobody has attached. Without a cgroup, segments must be small.
 * 6. A process that uses the call numbers of another architecture is killed: they mean something else.
 *
 * Undefined for a processor whose call numbers are not known here.
 */
export function syscallFilter(
  architecture: string = process.arch,
  { isCounted = false }: SyscallFilterOptions = {},
): Uint8Array | undefined {
  const machine = MACHINES.get(architecture);
  if (machine === undefined) return undefined;
  const { audit, refused, socket, shmget, highest } = machine;
  const checks = [...refused, ...IO_URING].flatMap(number => [
    step(JUMP_IF_EQUAL, number, { unless: 1 }),
    step(RETURN, REFUSE),
  ]);
  const families = call(socket, [
    step(LOAD, argumentAt(0)),
    ...FAMILIES.map((family, index) => step(JUMP_IF_EQUAL, family, { so: FAMILIES.length - index })),
    step(RETURN, UNKNOWN_FAMILY),
    step(RETURN, ALLOW),
  ]);
  const segments = call(shmget, [
    step(LOAD, argumentAt(1) + HIGH_WORD),
    step(JUMP_IF_EQUAL, 0, { unless: 2 }),
    step(LOAD, argumentAt(1)),
    step(JUMP_IF_AT_LEAST, LARGEST_SEGMENT + 1, { unless: 1 }),
    step(RETURN, TOO_LARGE),
    step(RETURN, ALLOW),
  ]);
  return assembled([
    step(LOAD, ARCHITECTURE_AT),
    step(JUMP_IF_EQUAL, audit, { so: 1 }),
    step(RETURN, KILL),
    step(LOAD, NUMBER_AT),
    ...(highest === undefined ? [] : [step(JUMP_IF_AT_LEAST, highest, { unless: 1 }), step(RETURN, KILL)]),
    ...checks,
    ...families,
    ...(isCounted ? [] : segments),
    step(RETURN, ALLOW),
  ]);
}

export interface SyscallFilterOptions {
  /** Whether a cgroup limits the command's memory. */
  readonly isCounted?: boolean;
}

/** The check of one call. It always returns: the call's number is no longer loaded. */
function call(number: number, steps: readonly FilterStep[]): readonly FilterStep[] {
  return [step(JUMP_IF_EQUAL, number, { unless: steps.length }), ...steps];
}

interface SyscallMachine {
  /** The kernel's constant for the architecture (`AUDIT_ARCH_…`). */
  readonly audit: number;
  /** `add_key`, `request_key`, `keyctl`. */
  readonly refused: readonly number[];
  readonly socket: number;
  readonly shmget: number;
  /** Calls from this number on belong to x32, which shares the constant of x86-64. */
  readonly highest?: number;
}

/** `io_uring_setup`, `io_uring_enter`, `io_uring_register`: the same everywhere. */
const IO_URING = [425, 426, 427];
/** Architectures that came later share their numbers. */
const GENERIC = { refused: [217, 218, 219], socket: 198, shmget: 194 };
const MACHINES: ReadonlyMap<string, SyscallMachine> = new Map([
  ['x64', { audit: 0xc000003e, refused: [248, 249, 250], socket: 41, shmget: 29, highest: 0x40000000 }],
  ['arm64', { audit: 0xc00000b7, ...GENERIC }],
  ['riscv64', { audit: 0xc00000f3, ...GENERIC }],
  ['loong64', { audit: 0xc0000102, ...GENERIC }],
]);

/** `AF_UNIX`, `AF_INET`, `AF_INET6`, `AF_NETLINK`. */
const FAMILIES = [1, 2, 10, 16];
/** The kernel has 4,096 of them in a namespace. */
const LARGEST_SEGMENT = 1 << 16;

/** Offsets in `struct seccomp_data`. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
/** An argument has two words, low word first on all of these machines. */
const HIGH_WORD = 4;
const argumentAt = (index: number) => 16 + 8 * index;

/** `BPF_LD | BPF_W | BPF_ABS` and the like. */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const REFUSE = 0x00050000 | os.constants.errno.EPERM;
const UNKNOWN_FAMILY = 0x00050000 | os.constants.errno.EAFNOSUPPORT;
const TOO_LARGE = 0x00050000 | os.constants.errno.EINVAL;
const KILL = 0x80000000;

/** `struct sock_filter`. Jumps count the instructions to skip. */
interface FilterStep {
  readonly code: number;
  readonly so: number;
  readonly unless: number;
  readonly value: number;
}

type Jumps = Partial<Pick<FilterStep, 'so' | 'unless'>>;

function step(code: number, value: number, { so = 0, unless = 0 }: Jumps = {}): FilterStep {
  return { code, value, so, unless };
}

function assembled(steps: readonly FilterStep[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(steps.length * STEP_BYTES));
  const isLittle = os.endianness() === 'LE';
  for (const [index, { code, so, unless, value }] of steps.entries()) {
    const at = index * STEP_BYTES;
    bytes.setUint16(at, code, isLittle);
    bytes.setUint8(at + 2, so);
    bytes.setUint8(at + 3, unless);
    bytes.setUint32(at + 4, value, isLittle);
  }
  return new Uint8Array(bytes.buffer);
}

const STEP_BYTES = 8;
