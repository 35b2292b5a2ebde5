import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CompileCache } from '@signalbox/plan';

/**
 * Compiled modules in files of the data directory. They only save time: a missing or unwritable one is compiled again, and so is code that
 * holds a secret. A file is complete or absent, and names the digest of its code, so that a damaged one is ignored.
 */
export function compiledFiles(
  directory: string,
  digestOf: (text: string) => string,
  hasSecret: (code: string) => boolean = () => false,
): CompileCache {
  const fileOf = (key: string) => path.join(directory, `${key}.js`);
  return {
    get(key) {
      try {
        const [head = '', ...rest] = readFileSync(fileOf(key), 'utf8').split('\n');
        const code = rest.join('\n');
        return head === `// ${digestOf(code)}` ? code : undefined;
      } catch {
        return undefined;
      }
    },
    put(key, code) {
      if (hasSecret(code)) return;
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const temporary = `${fileOf(key)}.${process.pid}.tmp`;
        writeFileSync(temporary, `// ${digestOf(code)}\n${code}`, { mode: 0o600 });
        renameSync(temporary, fileOf(key));
      } catch {
        // A full or read-only disk only costs time.
      }
    },
  };
}
