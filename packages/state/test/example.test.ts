import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, it } from 'vitest';

describe('examples/01-undo', () => {
  it('[S58] [S53] runs, and says what its README shows', () => {
    const example = path.join(import.meta.dirname, '../../../examples/01-undo');
    const output = execFileSync('node', [path.join(example, 'undo.ts')], { encoding: 'utf8' });
    expect(fs.readFileSync(path.join(example, 'README.md'), 'utf8')).toContain(`\`\`\`\n${output}\`\`\``);
  });
});
