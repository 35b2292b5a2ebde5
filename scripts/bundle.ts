import { readFileSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { types } from 'node:util';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { withDirectImports, workspaceOrigins } from './direct-imports.ts';
import { withLazySchemas } from './lazy-schemas.ts';

const LAZY_SCHEMA = path.join(import.meta.dirname, 'lazy-schema.ts');

export interface BundleOptions {
  /** Entry points: each becomes the file `<name>.js`. They share common modules. */
  readonly entries: Readonly<Record<string, string>>;
  /**
   * Entries that share files with no other: each start of one of them reads a few files instead of a hundred, and Node keeps for them
   * what they run of the code, not what another program runs of it.
   */
  readonly apart?: Readonly<Record<string, string>>;
  /**
   * Entries that become one script each, `<name>.script.js`: a function of `exports`, `require`, `module` and what stands for
   * `import.meta`, which also imports. Unlike modules, a script can be compiled from code that was kept (`kept-script.ts`).
   */
  readonly scripts?: Readonly<Record<string, string>>;
  /** Entries for browsers as well as Node. */
  readonly browser?: Readonly<Record<string, string>>;
  /** Emptied first. */
  readonly outDir: string;
  /** Packages that may be used. They stay imports, unless they are inlined. */
  readonly dependencies: readonly string[];
  /** Packages that become part of the bundle, as every module of the workspace does: one file loads faster than eighty. */
  readonly inlined?: readonly string[];
  /** Where packages are looked up, and what the paths in messages start from. */
  readonly root: string;
}

export interface Bundled {
  /** Packages that are used but not declared: an error. */
  readonly undeclared: readonly string[];
  /** ES modules whose default export a script would not get: it gets all exports instead. Inline them, or import them lazily. */
  readonly misread: readonly string[];
  /** Every file that became part of it, from the root. */
  readonly files: readonly string[];
}

/**
 * Bundles programs as modules for Node; what they import lazily stays in files of its own.
 */
export async function bundle(options: BundleOptions): Promise<Bundled> {
  const { entries, apart = {}, scripts = {}, browser = {}, dependencies } = options;
  rmSync(options.outDir, { recursive: true, force: true });
  const families = [entries, ...Object.entries(apart).map(([name, module]) => ({ [name]: module }))];
  const metafiles = await Promise.all([
    ...families.map(family => bundleFamily(family, options, { format: 'esm', splitting: true })),
    ...(Object.keys(browser).length > 0 ? [bundleFamily(browser, options, BROWSER_OPTIONS)] : []),
    ...Object.entries(scripts).map(([name, module]) =>
      bundleFamily({ [`${name}.script`]: module }, options, SCRIPT_OPTIONS),
    ),
  ]);
  // Files that contributed no bytes do not count.
  const parts = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
    ),
  );
  const undeclared = metafiles.flatMap(metafile => undeclaredPackages(metafile, dependencies));
  const misread = Object.keys(scripts).flatMap(name =>
    misreadModules(readFileSync(path.join(options.outDir, `${name}.script.js`), 'utf8'), options.root),
  );
  return {
    undeclared: [...new Set(undeclared)].sort(),
    misread: [...new Set(misread)].sort(),
    files: [...new Set(parts)],
  };
}

/** A script loads packages with `require`. The helper below takes whatever that returns for the default export, as is right for CommonJS only. */
function misreadModules(script: string, root: string): readonly string[] {
  const load = createRequire(path.join(root, 'package.json'));
  return [...script.matchAll(/__toESM\(require\("([^"]+)"\)/g)]
    .map(([, name = '']) => name)
    .filter(name => !isBuiltin(name) && types.isModuleNamespaceObject(load(name)));
}

/** `import.meta` is an argument of a script. What is imported lazily is part of it, and is evaluated when it is imported. */
const SCRIPT_OPTIONS: BuildOptions = {
  format: 'cjs',
  define: Object.fromEntries(['url', 'filename', 'dirname'].map(name => [`import.meta.${name}`, `__meta.${name}`])),
  banner: { js: '(function(exports,require,module,__meta){"use strict";' },
  footer: { js: '})' },
};

const BROWSER_OPTIONS: BuildOptions = { format: 'esm', platform: 'browser', target: 'es2022' };

async function bundleFamily(
  entryPoints: Readonly<Record<string, string>>,
  { outDir, dependencies, inlined = [], root }: BundleOptions,
  shape: BuildOptions,
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...entryPoints },
    outdir: outDir,
    bundle: true,
    platform: 'node',
    target: 'node24.15',
    ...shape,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    // Traces name files and lines; the text of the sources would triple what is installed.
    sourcesContent: false,
    external: dependencies.filter(name => !inlined.includes(name)),
    plugins: [
      ownSources(root, shape.format === 'cjs'),
      foreignSchemas,
      ...(isGuarded(entryPoints) || shape.platform === 'browser' ? [] : [lazyBuiltins]),
    ],
    logLevel: 'warning',
    metafile: true,
  });
  return metafile;
}

/**
 * A module that imports one of Node's own reads every member of it, and some of them load much: `fs` all streams, `process` what the
 * standard streams are made of, `http` all of `fetch`. Here only the members that are used are read.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w/:]+$/ }, ({ path: name, kind }) => {
      if (!isBuiltin(name)) return undefined;
      const isRequired = kind === 'require-call' || kind === 'require-resolve';
      return { path: name.replace(/^(node:)?/, 'node:'), namespace: isRequired ? 'required-builtin' : 'lazy-builtin' };
    });
    onLoad({ filter: /./, namespace: 'required-builtin' }, ({ path: name }) => ({
      contents: `module.exports = ${wholeModule(name)};`,
    }));
    onLoad({ filter: /./, namespace: 'lazy-builtin' }, ({ path: name }) => {
      const lines = membersOf(name).map(
        member =>
          `const _${member} = /* @__PURE__ */ ${importedMember(name, member)};\nexport { _${member} as ${member} };`,
      );
      return {
        contents: [
          'let loaded;',
          `const builtin = () => (loaded ??= ${builtinModule(name)});`,
          'const member = name => builtin()[name];',
          `const whole = /* @__PURE__ */ ${wholeModule(name)};`,
          'export default whole;',
          ...lines,
        ].join('\n'),
      };
    });
  },
};

/** Modules that take milliseconds to load, and that most commands never use though something they import names them. */
const HEAVY: ReadonlySet<string> = new Set(['node:child_process', 'node:crypto']);

/** A function of a heavy module loads it when it is called; anything else is read at once. */
function importedMember(name: string, member: string): string {
  if (HEAVY.has(name) && isPlainFunction(memberOf(name, member))) return `(...args) => builtin().${member}(...args)`;
  return `member('${member}')`;
}

/** A heavy module as a whole is an object that loads it when a member is read. */
function wholeModule(name: string): string {
  if (!HEAVY.has(name)) return builtinModule(name);
  const getters = membersOf(name).map(member => `get ${member}() { return ${builtinModule(name)}.${member}; }`);
  return `{ ${getters.join(', ')} }`;
}

function membersOf(name: string): readonly string[] {
  return Object.keys(process.getBuiltinModule(name) ?? {}).filter(
    member => /^[A-Za-z]\w*$/.test(member) && member !== 'default',
  );
}

function memberOf(name: string, member: string): unknown {
  return (process.getBuiltinModule(name) as unknown as Readonly<Record<string, unknown>> | undefined)?.[member];
}

/** Neither a constructor nor a function that others look at, as `promisify` does at `execFile`. */
function isPlainFunction(value: unknown): boolean {
  if (typeof value !== 'function' || /^[A-Z]/.test(value.name)) return false;
  const own = Reflect.ownKeys(value).filter(key => !['length', 'name', 'prototype'].includes(String(key)));
  return own.length === 0;
}

/** The thread of plans replaces members of Node's modules for everything that is loaded in it: what it reads must be what is there then. */
function isGuarded(entryPoints: Readonly<Record<string, string>>): boolean {
  return 'plan-worker.script' in entryPoints;
}

function builtinModule(name: string): string {
  return `process.getBuiltinModule(${JSON.stringify(name)})`;
}

/**
 * Modules of the workspace name each other directly: a command does not load what lies beside its use-case in an index. Their schemas
 * are made when they are used.
 */
function ownSources(root: string, isScript: boolean): Plugin {
  const find = workspaceOrigins(root);
  return {
    name: 'own-sources',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.tsx?$/ }, ({ path: file }) => ({
        contents: withLazySchemas(
          withDirectImports(withImports(readFileSync(file, 'utf8'), isScript), find, module => module),
          LAZY_SCHEMA,
        ),
        loader: file.endsWith('x') ? 'tsx' : 'ts',
      }));
    },
  };
}

/** A script has no `import` of its own: what is not part of it is imported by whoever runs it. */
function withImports(source: string, isScript: boolean): string {
  return isScript
    ? source.replace(/(?<![\w.$])import\((?=url\)|'(?!\.{1,2}\/|@signalbox\/))/g, '__meta.import(')
    : source;
}

/** The protocol's packages have a thousand schemas; a server that answers one call needs twenty. */
const foreignSchemas: Plugin = {
  name: 'foreign-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@modelcontextprotocol[\\/]\w+[\\/]dist[\\/][\w-]+\.mjs$/ }, ({ path: file }) => ({
      contents: withLazySchemas(readFileSync(file, 'utf8'), LAZY_SCHEMA),
      loader: 'js',
    }));
  },
};

/** Packages that the output imports or has swallowed without `dependencies` naming them. */
export function undeclaredPackages(metafile: Metafile, dependencies: readonly string[]): readonly string[] {
  const imported = Object.values(metafile.outputs)
    .flatMap(output => output.imports)
    .filter(found => found.external === true && !isBuiltin(found.path))
    .map(found => found.path);
  const swallowed = Object.keys(metafile.inputs).flatMap(input => input.split('node_modules/').slice(1).slice(-1));
  const names = [...imported, ...swallowed].map(path => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
  return [...new Set(names)].filter(name => !dependencies.includes(name)).sort();
}
