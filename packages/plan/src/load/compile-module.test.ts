import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { COMPILER, compileModule } from './compile-module.ts';

const bytes = (text: string) => Buffer.from(text);

function memoryCache() {
  const kept = new Map<string, string>();
  return { kept, get: (key: string) => kept.get(key), put: (key: string, code: string) => void kept.set(key, code) };
}

describe('compiling a module', () => {
  it('[P82] is done once for the same file and contents', () => {
    const cache = memoryCache();
    const code = compileModule('/a/plan.tsx', bytes('export default <A />;'), cache);
    expect(code).toContain('signalbox/jsx-dev-runtime');
    const [key = ''] = cache.kept.keys();
    cache.kept.set(key, 'as it was kept');
    expect(compileModule('/a/plan.tsx', bytes('export default <A />;'), cache)).toBe('as it was kept');
  });

  it('[P82] is repeated for other contents or another place, which the code names', () => {
    const cache = memoryCache();
    compileModule('/a/plan.tsx', bytes('export const a = 1;'), cache);
    compileModule('/a/plan.tsx', bytes('export const a = 2;'), cache);
    compileModule('/b/plan.tsx', bytes('export const a = 1;'), cache);
    expect(cache.kept.size).toBe(3);
  });

  it('[P82] that fails is not cached', () => {
    const cache = memoryCache();
    expect(() => compileModule('/a/plan.tsx', bytes('export default <;'), cache)).toThrow();
    expect(cache.kept.size).toBe(0);
  });

  it('[P82] by another compiler makes other keys', () => {
    expect(COMPILER).toBe(`esbuild ${manifest.dependencies.esbuild}`);
  });
});
