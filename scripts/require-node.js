// Plain JavaScript on purpose: it must run, and explain itself, on any Node.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `Signalbox needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      'npm ci installs a fitting one as a package. If it did not, its install script was switched off: ' +
      'run "npm rebuild node" or "npm ci --ignore-scripts=false".',
  );
  process.exit(4);
}
