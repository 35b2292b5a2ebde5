#!/usr/bin/env node
// No static import and no import.meta: it must run, and explain itself, on any Node since 10.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 15)) {
  const again = ['npx -p node@24 -p signalbox signalbox', ...process.argv.slice(2).map(quoted)].join(' ');
  console.error(`Signalbox needs Node 24.15 or newer and this is ${process.versions.node}; run: ${again}`);
  process.exitCode = 4;
} else {
  import('./start.js');
}

function quoted(argument) {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replace(/'/g, "'\\''")}'`;
}
