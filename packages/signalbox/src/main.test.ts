import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { memoryTerminal } from '../test/memory-terminal.ts';
import { CHILD_COMMAND, type CommandEntry } from './command.ts';
import { commands } from './commands.ts';
import { exitCodes } from './exit-code.ts';
import { main } from './main.ts';

async function run(argv: readonly string[], entries?: readonly CommandEntry[]) {
  const terminal = memoryTerminal();
  const code = await main(argv, terminal, entries);
  return { code, printed: terminal.printed.join('\n'), complaints: terminal.complaints };
}

describe('the program', () => {
  it('says its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect(await run(['--version'])).toEqual({ code: 0, printed: version, complaints: [] });
  });

  it('[X21] explains itself when it is asked to, in any way, and when it is asked nothing', async () => {
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, complaints: [] });
    for (const part of ['local-first control plane', 'verify', 'doctor', 'demo', 'SIGNALBOX_DATA_DIR', 'Exit codes']) {
      expect(help.printed).toContain(part);
    }
    expect(help.printed).not.toContain('child');
    expect([await run([]), await run(['help']), await run(['-h'])]).toEqual([help, help, help]);
  });

  it.each(['verify', 'doctor', 'demo'])('explains %s, with an example', async command => {
    const help = await run([command, '--help']);
    expect(help).toMatchObject({ code: 0, complaints: [] });
    expect(help.printed).toContain(`$ signalbox ${command}`);
    expect(help.printed).toContain('--json');
    expect(await run(['help', command])).toEqual(help);
  });

  const words = commands.map(({ syntax }) => syntax.split(' ')[0] ?? '').filter(word => word !== CHILD_COMMAND);
  it.each(words)('[X1] explains %s, and refuses an option that it does not know', async word => {
    const help = await run([word, '--help']);
    expect(help).toMatchObject({ code: 0, complaints: [] });
    expect(help.printed).toMatch(new RegExp(`^Usage: signalbox ${word}\\b.*\\n\\n[A-Z].*`));
    const refused = await run([word, '--no-such-option']);
    expect([refused.code, refused.complaints.join('\n')]).toEqual([
      exitCodes.usage,
      expect.stringContaining(`"signalbox ${word} --help"`),
    ]);
  });
});

describe('a command line that is wrong', () => {
  it.each([
    [['verfy', 'x'], "Unknown command 'verfy'.", 'Did you mean verify? See "signalbox --help".'],
    [['something'], "Unknown command 'something'.", 'See "signalbox --help".'],
    [['--versio'], "Unknown option '--versio'.", 'Did you mean --version? See "signalbox --help".'],
    [['verify'], "Missing required argument 'dir'.", 'See "signalbox verify --help".'],
    [
      ['verify', 'a', 'b'],
      "Too many arguments for 'verify'. Expected 1 argument but got 2: a, b.",
      'See "signalbox verify --help".',
    ],
    [
      ['verify', 'a', '--expect-hed', 'b'],
      "Unknown option '--expect-hed'.",
      'Did you mean --expect-head? See "signalbox verify --help".',
    ],
    [['verify', 'a', '--snapshots'], "Option '--snapshots <dir>' argument missing.", 'See "signalbox verify --help".'],
    [
      ['verify', 'a', '--expect-head', 'latest'],
      '"latest" is not a head.',
      'A head is "sha256:" and 64 lower-case hex digits, as "signalbox verify" prints it.',
    ],
  ])('%j is a usage error that says what to do', async (argv, message, suggestion) => {
    expect(await run(argv)).toEqual({
      code: exitCodes.usage,
      printed: '',
      complaints: [`error: ${message}\n${suggestion}`],
    });
    const asJson = await run([...argv.slice(0, 1), '--json', ...argv.slice(1)]);
    expect(asJson).toMatchObject({ code: exitCodes.usage, complaints: [] });
    expect(JSON.parse(asJson.printed)).toEqual({
      code: 'command/usage',
      message: expect.any(String),
      retry: { kind: 'not_retryable' },
      suggestion: expect.any(String),
    });
  });
});

describe('a bug', () => {
  const failing: CommandEntry = {
    syntax: 'fail',
    summary: 'fail',
    load: async () => command => {
      command.option('--json').action(async () => {
        throw new TypeError('nobody thought of this');
      });
    },
  };

  it('is reported as an envelope, with the place for whoever mends it', async () => {
    const { code, printed, complaints } = await run(['fail'], [failing]);
    expect({ code, printed, said: complaints[0] }).toEqual({
      code: exitCodes.failed,
      printed: '',
      said:
        'error: Signalbox hit an internal error: TypeError: nobody thought of this.\n' +
        'Nothing that was acknowledged is lost. Please report this, with the output of "signalbox doctor".',
    });
    expect(complaints[1]).toContain('main.test.ts');
  });

  it('is an answer for programs too', async () => {
    const { code, printed } = await run(['fail', '--json'], [failing]);
    expect(code).toBe(exitCodes.failed);
    expect(JSON.parse(printed)).toMatchObject({ code: 'command/unexpected' });
  });
});
