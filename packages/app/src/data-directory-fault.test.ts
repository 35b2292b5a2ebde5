import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closingCommand, dataDirectoryFault, makeDataDirectory } from './data-directory-fault.ts';
import { makePrivateDirectory } from './private-directory.ts';

function place(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'data-directory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a data directory', () => {
  it('[A295] may be missing, or its owner’s alone', () => {
    const folder = place();
    expect([dataDirectoryFault(folder), dataDirectoryFault(path.join(folder, 'none'))]).toEqual([undefined, undefined]);
  });

  it.each([0o701, 0o710, 0o740, 0o750, 0o755, 0o777])(
    '[A295] of mode %o is refused with the command that closes it',
    mode => {
      const folder = place();
      writeFileSync(path.join(folder, 'token'), '');
      chmodSync(folder, mode);
      expect(dataDirectoryFault(folder)).toEqual({
        code: 'store/not-private',
        message: `The data directory ${folder} is open to other users (mode 0${mode.toString(8)}).`,
        retry: { kind: 'not_retryable' },
        suggestion: `It holds transcripts, files and keys. Close it: chmod -R go-rwx '${folder}'`,
        details: { mode: mode.toString(8) },
      });
      expect(statSync(folder).mode & 0o777).toBe(mode);
    },
  );

  it('[A295] with nothing in it is closed when it is first used', () => {
    const folder = place();
    chmodSync(folder, 0o755);
    expect([dataDirectoryFault(folder), makeDataDirectory(folder)]).toEqual([undefined, undefined]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('[A295] is named as a shell takes it', () => {
    expect(closingCommand("/a b/o'clock $(x)")).toBe("chmod -R go-rwx '/a b/o'\\''clock $(x)'");
  });

  it('[A297] that is a file, or lies below one, is refused with that cause', () => {
    const file = path.join(place(), 'file');
    writeFileSync(file, '');
    const below = path.join(file, 'deep', 'data');
    expect([dataDirectoryFault(file)?.message, dataDirectoryFault(below)?.message]).toEqual([
      `The data directory ${file} is a file, not a directory.`,
      `The data directory ${below} cannot be created: ${file} is a file, not a directory.`,
    ]);
    expect(dataDirectoryFault('/dev/null')?.message).toBe(
      'The data directory /dev/null is a device, pipe or socket, not a directory.',
    );
  });

  it('[A296] and what is below it are made for their owner alone, and closed if they were there', () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const folder = place();
    mkdirSync(path.join(folder, 'open'));
    for (const name of ['new/deep', 'open']) makePrivateDirectory(path.join(folder, name));
    const modes = ['new', 'new/deep', 'open'].map(name => statSync(path.join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });
});
