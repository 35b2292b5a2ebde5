import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('[C10] the package bundles for a browser', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('@signalbox/client'))],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
  });
  expect(outputFiles[0]?.text).toContain('createClient');
  expect(Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external))).toEqual(
    [],
  );
});
