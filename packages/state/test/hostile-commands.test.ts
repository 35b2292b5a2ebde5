import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { createRunCommand, detectSandbox, type ProjectRules, sandboxRules, type ToolOutcome } from '../src/index.ts';
import { makeCgroup } from '../src/sandbox/cgroup.ts';
import { startInGroup } from '../src/sandbox/running-command.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, removeAll } from './builders.ts';
import { hasLayers, openLayered, sandbox } from './layered.ts';

/**
 * What a hostile command would try. Each is refused or bounded, on a layer and in place. The suite runs as root and, by
 * `ordinary-user.test.ts`, as somebody else.
 */
const hasNamespaces = sandbox.ok && sandbox.value.name === 'bubblewrap';

/** Not among the temporary files, of which a command has its own. */
const place = path.join(process.env.SIGNALBOX_TEST_PLACE ?? import.meta.dirname, `.hostile-${process.pid}`);
const inMemory = `/dev/shm/hostile-${process.pid}`;
const home = `${place}/home`;
const root = `${home}/work/project`;
const SECRET = ['planted', process.pid, 'in', 'a', 'home'].join('-');

/** Thirty places under a home, relative to it, in which programs and people keep what is private. */
const PRIVATE = [
  ...['.ssh/id_rsa', '.ssh/id_ed25519', '.ssh/config', '.ssh/known_hosts', '.gnupg/secring.gpg', '.netrc'],
  ...[
    '.git-credentials',
    '.npmrc',
    '.pypirc',
    '.pgpass',
    '.aws/credentials',
    '.aws/config',
    '.azure/accessTokens.json',
  ],
  ...['.config/gh/hosts.yml', '.config/gcloud/credentials.db', '.config/rclone/rclone.conf', '.kube/config'],
  ...[
    '.docker/config.json',
    '.cargo/credentials.toml',
    '.m2/settings.xml',
    '.gradle/gradle.properties',
    '.bash_history',
  ],
  ...[
    '.local/share/keyrings/login.keyring',
    '.mozilla/firefox/x/logins.json',
    '.claude/.credentials.json',
    '.vault-token',
  ],
  ...['.terraform.d/credentials.tfrc.json', '.profile', 'Documents/taxes.txt', 'work/other/.env', 'go/src/own/main.go'],
];

const before = process.env.HOME;
beforeAll(() => {
  for (const name of PRIVATE) {
    fs.mkdirSync(path.dirname(`${home}/${name}`), { recursive: true });
    fs.writeFileSync(`${home}/${name}`, `${SECRET} //registry.example/:_authToken=${SECRET}`);
  }
  fs.mkdirSync(root, { recursive: true });
  process.env.HOME = home;
});
afterAll(() => {
  process.env.HOME = before;
  for (const made of [place, inMemory]) removeAll(made);
});
afterEach(() => {
  for (const name of fs.readdirSync(root)) fs.rmSync(`${root}/${name}`, { recursive: true, force: true });
});

/** Small limits, so that reaching them costs little. */
const LIMITS = { memoryMb: 96, processes: 64, fileMb: 16, diskMb: 64, seconds: 60 };
/** Each process makes more of them; in an ordinary run those that did wait, and leave the machine to the other tests. */
const MULTIPLY = sized('bomb & bomb & wait', 'while :; do bomb & done', 'while :; do bomb & done');
const rules = (given: object = {}): ProjectRules => ({
  file: 'sandbox.json',
  digest: 'digest',
  rules: sandboxRules.parse({ limits: LIMITS, ...given }),
});
const toolWith = (given: ProjectRules) =>
  createRunCommand({ sandbox: async () => sandbox, rules: () => ({ ok: true, value: given }) });

let calls = 0;
/** A command in place, or on a layer. */
async function attempt(
  script: string,
  options: { layer?: boolean; at?: string; given?: ProjectRules } = {},
): Promise<ToolOutcome> {
  const { layer = false, at = root, given = rules() } = options;
  const tools = [toolWith(given)];
  const call = { id: `call-${++calls}`, name: 'run_command', input: { command: ['sh', '-c', script] } };
  if (layer) {
    const layered = await openLayered(place, { root: at });
    return must(await createTestRunner(layered.state, { tools, locks: layered.locks }).execute(call));
  }
  const files = openTestFilesystem(at, { dataDirectory: `${place}/data` });
  return must(await createTestRunner(createTestState({ files }).state, { tools }).execute(call));
}
const told = (outcome: ToolOutcome) => JSON.stringify(outcome);

async function unconfined(script: string): Promise<string> {
  const running = startInGroup(['sh', '-c', script], { cwd: root, env: process.env });
  let said = '';
  running.onOutput(chunk => {
    said += chunk.toString();
  });
  await running.ended;
  return said;
}

/** Connects with our own Node, which is on the PATH; exits with 3 where that fails. */
function connecting(to: net.NetConnectOpts): string {
  const program = `require('net').connect(${JSON.stringify(to)}).on('data', data => console.log(String(data))).on('error', () => process.exit(3))`;
  return `${process.execPath} -e '${program.replaceAll("'", `'"'"'`)}'`;
}

/** Numbers of system calls, in which this machine's processors differ. */
const CALLS =
  process.arch === 'x64'
    ? { read: 0, mmap: 9, shmget: 29, memfd: 319, unshare: 272, mount: 165 }
    : { read: 63, mmap: 222, shmget: 194, memfd: 279, unshare: 97, mount: 40 };

const perl = (program: string) => `exec perl -MErrno -e '$| = 1; ${program}'`;

/** Maps anonymous memory that could be shared, and fills it. */
const mapShared = (megabytes: number) =>
  `open(Z, "<", "/dev/zero"); for (1..${megabytes}) { my $at = syscall(${CALLS.mmap}, 0, 1 << 20, 3, 0x21, -1, 0);
   syscall(${CALLS.read}, fileno(Z), $at, 1 << 20); } sleep 60`;

const unnamed = (count: number, megabytes: number) =>
  `my @kept; for (1..${count}) { my $name = "x"; my $fd = syscall(${CALLS.memfd}, $name, 0); open(my $f, "+<&=", $fd);
   print $f "x" x (${megabytes} << 20); push @kept, $f; } sleep 60`;

describe.skipIf(!hasNamespaces)('a hostile command', () => {
  const readAll = (at: string) => PRIVATE.map(name => `cat '${at}/${name}'`).join('; ');

  it('[S158] [S150] reads none of thirty places under the home that its root lies in', async () => {
    expect((await unconfined(readAll(home))).match(new RegExp(`${SECRET} `, 'g'))).toHaveLength(PRIVATE.length);
    const script = `echo begun; ${readAll(home)}; ls -A ~; grep -rs ${SECRET} ~ /home /srv /mnt; true`;
    for (const layer of hasLayers ? [false, true] : [false]) {
      const outcome = await attempt(script, { layer });
      expect(outcome).toMatchObject({ status: 'succeeded', value: { output: expect.stringContaining('begun') } });
      expect(told(outcome)).not.toContain(`${SECRET} `);
    }
  });

  it('[S158] [S151] [S152] reads no credential where its root is the home itself, and can work there', async () => {
    const plain = ['.profile', 'Documents/taxes.txt', 'work/other/.env', 'go/src/own/main.go'];
    const outcome = await attempt(`${readAll(home)}; echo x > made; echo "$HOME"; echo y > "$HOME/own"`, { at: home });
    expect(told(outcome).match(new RegExp(`${SECRET} `, 'g'))).toHaveLength(plain.length);
    expect(outcome).toMatchObject({ value: { output: expect.stringContaining('/tmp/signalbox-home\n') } });
    expect([fs.readFileSync(`${home}/made`, 'utf8'), fs.existsSync(`${home}/own`)]).toEqual(['x\n', false]);
    fs.rmSync(`${home}/made`);
  });

  it('[S158] [S152] has a home of its own at the same path, which is gone afterwards', async () => {
    const outcome = await attempt('echo "$HOME"; echo mine > ~/own && cat ~/own; ls ~/work');
    expect(outcome).toMatchObject({ value: { output: `${home}\nmine\nproject\n` } });
    expect(fs.existsSync(`${home}/own`)).toBe(false);
  });

  it('[S158] reads nothing of the system that is closed to others, nor what lies outside of it', async () => {
    const script =
      'cat /etc/shadow /etc/gshadow /etc/ssl/private/* /etc/sudoers; ls /root /var/log /boot /media; echo end';
    const outcome = await attempt(script);
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(told(outcome)).not.toMatch(/root:[^:]*:\d|PRIVATE KEY|vmlinuz|syslog/);
    expect(told(outcome)).toContain("'/var/log': No such file");
  });

  it('[S158] sees no process but its own, and none of their memory or variables', async () => {
    const seen = await attempt(
      'set -- /proc/[0-9]*; echo $#; cat /proc/*/environ /proc/*/cmdline | tr "\\0" " "; cat /proc/1/environ | wc -c',
    );
    expect(seen).toMatchObject({ status: 'succeeded' });
    const { output } = (seen as { value: { output: string } }).value;
    expect(Number(output.split('\n')[0])).toBeLessThan(10);
    expect(output).not.toContain('vitest');
    for (const script of [
      `cat /proc/${process.pid}/environ`,
      'cat /proc/kcore | head -c 1 | grep -c .',
      'dd if=/dev/mem bs=1 count=1',
      'echo x > /proc/sys/kernel/domainname',
      'echo b > /proc/sysrq-trigger',
      `kill -9 ${process.pid}`,
    ]) {
      expect({ script, status: (await attempt(script)).status }).toEqual({ script, status: 'failed' });
    }
  });

  it('[S158] [S62] reaches no socket, no server and no metadata address', async () => {
    const heard: string[] = [];
    const at = `${root}/agent.sock`;
    const server = net.createServer(socket => {
      heard.push('somebody');
      socket.end();
    });
    await once(server.listen(at), 'listening');
    for (const to of [
      { path: at },
      { path: '/var/run/docker.sock' },
      { path: '/run/dbus/system_bus_socket' },
      { host: '169.254.169.254', port: 80 },
      { host: 'fd00:ec2::254', port: 80 },
      { host: '100.100.100.200', port: 80 },
    ]) {
      const outcome = await attempt(connecting(to));
      expect({ to, outcome }).toMatchObject({ to, outcome: { status: 'failed', value: { exitCode: 3 } } });
    }
    await new Promise(resolve => server.close(resolve));
    expect(heard).toEqual([]);
    expect(told(await attempt('echo "[$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DOCKER_HOST]"'))).toContain('[]');
  });

  it('[S158] follows no link out of its root, and makes none to what it cannot see', async () => {
    fs.symlinkSync(`${home}/.ssh`, `${root}/keys`);
    for (const script of [
      'cat keys/id_rsa',
      `ln ${home}/.ssh/id_rsa stolen`,
      `ln -s ${home}/.ssh stolen && cat stolen/id_rsa`,
      `cat ../../.ssh/id_rsa`,
      `cat /proc/self/root${home}/.ssh/id_rsa`,
      `cat /proc/1/root${home}/.ssh/id_rsa`,
    ]) {
      const outcome = await attempt(script);
      expect({ script, status: outcome.status }).toEqual({ script, status: 'failed' });
      expect(told(outcome)).not.toContain(`${SECRET} `);
    }
    expect(fs.readdirSync(root)).toEqual(['keys']);
  });

  it('[S158] mounts nothing that shows more, in namespaces of its own either', async () => {
    const secret = `cat ${home}/.ssh/id_rsa`;
    for (const script of [
      'mount -t tmpfs none /mnt',
      'mount -o remount,rw /',
      `umount ${home}; ${secret}`,
      `umount -l ${home} && ${secret}`,
      `unshare -Urm sh -c 'umount -l ${home}; ${secret}'`,
      "unshare -Urmpf --mount-proc sh -c 'echo x > /proc/sys/kernel/domainname'",
      'unshare -Urm sh -c "mount -o remount,rw,bind /usr && touch /usr/hostile"',
      'mknod disk b 8 0 && cat disk',
      'chroot . /bin/true',
      // A user namespace that maps nobody: what is mounted in it holds no files.
      'perl -e \'syscall(CALL, 0x10020000) == 0 or exit 2; system("true"); syscall(MOUNT, "none", "/tmp", "tmpfs", 0, 0) == 0 or exit 3; open(F, ">", "/tmp/x") or exit 4\''
        .replace('CALL', String(CALLS.unshare))
        .replace('MOUNT', String(CALLS.mount)),
      'nsenter -t 1 -m -- true && nsenter -t 1 -a -- umount /proc',
    ]) {
      const outcome = await attempt(script);
      expect({ script, status: outcome.status }).toEqual({ script, status: 'failed' });
      expect(told(outcome)).not.toContain(`${SECRET} `);
    }
  });

  it('[S158] [S172] reads no key of the session that we run in, and makes no ring of calls', async () => {
    const numbers = process.arch === 'x64' ? [248, 249, 250, 425, 426, 427] : [217, 218, 219, 425, 426, 427];
    const program = numbers.map(number => `syscall(${number}, 0, -3, 0, 0, 0); print $!{EPERM} ? "refused " : "no "`);
    const script = `perl -MErrno -e '${program.join('; ')}'`;
    for (const layer of hasLayers ? [false, true] : [false]) {
      expect(await attempt(script, { layer })).toMatchObject({ value: { output: 'refused '.repeat(6) } });
    }
  });

  it('[S158] [S200] knows no socket that a namespace of the network does not confine', async () => {
    const families = Array.from({ length: 46 }, (_, family) => family);
    const tries = families.map(
      family =>
        `socket(my $s${family}, ${family}, 1, 0) or socket($s${family}, ${family}, 3, 0); print "${family}:", $!{EAFNOSUPPORT} ? "unknown" : "known", " "; $! = 0`,
    );
    for (const layer of hasLayers ? [false, true] : [false]) {
      const outcome = await attempt(perl(tries.join('; ')), { layer });
      const known = [...told(outcome).matchAll(/(\d+):known/g)].map(([, family]) => Number(family));
      expect(known).toEqual([1, 2, 10, 16]);
    }
  });

  it('[S158] [S201] finds nothing in /proc of our keys, and of what the machine does besides', async () => {
    const names = 'keys key-users timer_list sched_debug slabinfo vmallocinfo kcore kmsg kpageflags';
    const script = `for name in ${names}; do head -c 100 /proc/$name 2>/dev/null | wc -c; done; cat /proc/acpi/* /proc/scsi/* 2>/dev/null | wc -c`;
    for (const layer of hasLayers ? [false, true] : [false]) {
      const outcome = await attempt(`{ ${script}; } | sort -u`, { layer });
      expect(outcome).toMatchObject({ value: { output: '0\n' } });
    }
  });

  it('[S158] [S202] makes no segment of shared memory that nobody counts', async () => {
    const program = [4096, 1 << 30].map(
      size =>
        `my $got = syscall(${CALLS.shmget}, 0, ${size}, 0600); print $got >= 0 ? "made " : $!{EINVAL} ? "refused " : "$! "`,
    );
    // A cgroup would count it.
    const group = makeCgroup(LIMITS);
    await group?.remove();
    expect(await attempt(perl(program.join(';').replaceAll('my $got', '$got')))).toMatchObject({
      value: { output: group === undefined ? 'made refused ' : 'made made ' },
    });
  });

  it.skipIf(!hasLayers)('[S203] [S155] disk: a layer counts where it is, and memory is a disk too', async () => {
    fs.mkdirSync(inMemory);
    const script = 'for i in $(seq 1000); do head -c 15M /dev/zero > file-$i; done; sleep 60';
    for (const [data, at] of [
      [place, inMemory],
      [inMemory, root],
    ] as const) {
      const layered = await openLayered(data, { root: at });
      const call = { id: `call-${++calls}`, name: 'run_command', input: { command: ['sh', '-c', script] } };
      const runner = createTestRunner(layered.state, { tools: [toolWith(rules())], locks: layered.locks });
      expect(must(await runner.execute(call))).toMatchObject({ status: 'failed', value: { limit: 'disk' } });
    }
  });

  it.each([
    // A shell that may not fork ends. The first process, which waits without a fork, keeps what the others made for us to see.
    ['processes', 'a fork bomb', `sh -c 'bomb() { ${MULTIPLY}; }; bomb'; exec sleep 60`],
    [
      'processes',
      'many processes that do nothing',
      `sh -c 'for i in $(seq 3000); do sleep 60 & done; wait'; exec sleep 60`,
    ],
    ['memory', 'one process that fills memory', 'cat /dev/zero | tail -c 3G'],
    [
      'memory',
      'many processes that do so together',
      'for i in $(seq 10); do (head -c 40M /dev/zero; sleep 60) | tail -c 40M & done; wait',
    ],
    [
      'memory',
      'files in memory',
      'for at in /tmp /dev/shm ~; do for i in 1 2 3 4 5 6 7; do head -c 15M /dev/zero > $at/$i; done; done; sleep 60',
    ],
    ['memory', 'memory that nobody else shares, made to be shared', perl(mapShared(1024))],
    ['memory', 'files without a name', perl(unnamed(70, 15))],
    ['memory', 'files in memory that are empty', perl('for (1..150_000) { open(F, ">", "/tmp/$_") } sleep 60')],
    ['file size', 'a large file', 'exec head -c 17M /dev/zero > large'],
    ['disk', 'many files', 'for i in $(seq 1000); do head -c 15M /dev/zero > file-$i; done; sleep 60'],
  ])('[S158] [S155] %s: %s ends the command and nothing else', async (limit, _, script) => {
    for (const layer of hasLayers ? [false, true] : [false]) {
      const outcome = await attempt(script, { layer });
      expect(outcome).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('limits.') },
        value: { limit },
        rollback: { kind: layer ? 'dropped' : 'restored' },
      });
      expect(fs.readdirSync(root)).toEqual([]);
    }
  });

  it('[S155] a command that takes longer than its project allows is ended', async () => {
    const outcome = await attempt('sleep 60', { given: rules({ limits: { seconds: 1 } }) });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('longer than 1 s (limits.seconds)') } });
  });

  it('[S158] [S157] leaves no set-uid or set-gid file, on a layer and in place', async () => {
    const script =
      'cp /bin/true own; chmod 6755 own; mkdir -p deep; cp /bin/true deep/own; chmod 2711 deep/own; ls -l own';
    for (const layer of hasLayers ? [false, true] : [false]) {
      const outcome = await attempt(script, { layer });
      expect(outcome).toMatchObject({ status: 'succeeded' });
      const modes = ['own', 'deep/own'].map(name => fs.statSync(`${root}/${name}`).mode & 0o7777);
      expect(modes).toEqual([0o755, 0o711]);
      for (const name of ['own', 'deep']) fs.rmSync(`${root}/${name}`, { recursive: true });
    }
  });

  it('[S157] a set-uid file that was there before stays as it was', async () => {
    fs.copyFileSync('/bin/true', `${root}/old`);
    fs.chmodSync(`${root}/old`, 0o4755);
    const past = Date.now() / 1000 - 60;
    fs.utimesSync(`${root}/old`, past, past);
    if (hasLayers) {
      expect(await attempt('echo x > made', { layer: true })).toMatchObject({ status: 'succeeded' });
      expect(fs.statSync(`${root}/old`).mode & 0o7777).toBe(0o4755);
    }
  });

  it('[S154] what its project allows is open, is named in the answer, and nothing besides', async () => {
    process.env.SIGNALBOX_TEST_PASSED = 'passed on';
    fs.mkdirSync(`${place}/shared`, { recursive: true });
    const given = rules({
      read: [`${home}/.aws`, `${home}/Documents`],
      write: [`${place}/shared`],
      env: ['SIGNALBOX_TEST_PASSED', 'SIGNALBOX_TEST_UNSET'],
    });
    const script = `cat ~/.aws/config ~/Documents/taxes.txt; echo "$SIGNALBOX_TEST_PASSED"; echo x > ${place}/shared/made; cat ~/.ssh/id_rsa ~/.aws/credentials; true`;
    const outcome = await attempt(script, { given });
    delete process.env.SIGNALBOX_TEST_PASSED;
    expect(outcome).toMatchObject({ value: { widenedBy: { file: 'sandbox.json', digest: 'digest' } } });
    expect(told(outcome)).toContain('passed on');
    // The directory of credentials was named, the files in it were not asked about.
    expect(told(outcome).match(new RegExp(`${SECRET} `, 'g'))).toHaveLength(3);
    expect(told(outcome)).toContain('.ssh/id_rsa: No such file');
    expect(fs.readFileSync(`${place}/shared/made`, 'utf8')).toBe('x\n');
  });

  it('[S154] with the network of the machine it reaches a server, and still no socket', async () => {
    const server = net.createServer(socket => socket.end('hello'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as net.AddressInfo;
    const script = connecting({ host: '127.0.0.1', port });
    expect(told(await attempt(script, { given: rules({ network: 'host' }) }))).toContain('hello');
    expect(await attempt(script)).toMatchObject({ status: 'failed' });
    await new Promise(resolve => server.close(resolve));
  });
});

describe('a hostile command without a sandbox', () => {
  it('[S158] is not started', async () => {
    const nowhere = await detectSandbox([`${place}/no-programs`]);
    const tool = createRunCommand({ sandbox: async () => nowhere });
    const files = openTestFilesystem(root);
    const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
    const scripts = [...PRIVATE.map(name => `cat ~/${name}`), 'bomb() { bomb | bomb & }; bomb', 'echo x > made'];
    for (const [id, script] of scripts.entries()) {
      const input = { command: ['sh', '-c', script] };
      expect(must(await runner.execute({ id: `${id}`, name: 'run_command', input }))).toMatchObject({
        status: 'failed',
        error: { code: 'tool/sandbox-missing', suggestion: expect.stringContaining('Nothing was run') },
      });
    }
    expect(fs.readdirSync(root)).toEqual([]);
  });
});
