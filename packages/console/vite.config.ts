import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page holds no inline script and no inline style: the server's content security policy forbids both. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwindcss()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // Whatever loads zod also loads the setting that keeps schemas from compiling themselves, before it makes any.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'schemas', test: /[\\/]node_modules[\\/]zod[\\/]|client[\\/]src[\\/]jitless/ }],
        },
      },
    },
    // What others wrote and is in the page: a part of the published package's list of components.
    license: { fileName: 'licenses.json' },
  },
});
