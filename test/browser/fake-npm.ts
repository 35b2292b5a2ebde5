import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/agents';

/** An npm that installs the agent gemini without a registry, once it is let go. */
export interface FakeNpm {
  readonly path: string;
  letGo(): void;
  /** From then on it fails. */
  fail(): void;
  remove(): void;
}

export function fakeNpm(): FakeNpm {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-npm-'));
  const [go, broken] = [path.join(folder, 'go'), path.join(folder, 'broken')];
  const version = AGENT_ROWS.find(({ id }) => id === 'gemini')?.package?.version;
  const script = `#!/bin/sh
[ -e ${broken} ] && { echo "npm error code E404" >&2; echo "npm error <b>not</b> in this registry" >&2; exit 1; }
while [ ! -e ${go} ]; do sleep 0.05; done
mkdir -p node_modules/@google/gemini-cli/bundle
echo '{"version":"${version}"}' > node_modules/@google/gemini-cli/package.json
echo 'process.exit(3)' > node_modules/@google/gemini-cli/bundle/gemini.js
`;
  fs.writeFileSync(path.join(folder, 'npm'), script, { mode: 0o755 });
  return {
    path: `${folder}:/usr/bin:/bin`,
    letGo: () => fs.writeFileSync(go, ''),
    fail: () => fs.writeFileSync(broken, ''),
    remove: () => fs.rmSync(folder, { recursive: true }),
  };
}
