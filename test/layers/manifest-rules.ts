import type { SourceFile } from '../source-file.ts';
import { internalName, packageTable, publicName, TESTKIT_USERS } from './package-table.ts';

/** The part of a package.json that the layers are about. `dependencies` has the optional ones and peers too. */
export interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function manifestOf(file: SourceFile): Manifest {
  const { name = '', dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(file.source);
  return {
    name,
    dependencies: { ...peerDependencies, ...optionalDependencies, ...dependencies },
    devDependencies: { ...devDependencies },
  };
}

/** Breaches in the package.json files of the workspace: names, internal packages, versions. */
export function manifestProblems(files: readonly SourceFile[]): readonly string[] {
  const manifests = files.filter(file => /^(packages\/[^/]+\/)?package\.json$/.test(file.path));
  return [...manifests.flatMap(oneManifest), ...disagreements(manifests)];
}

function oneManifest(file: SourceFile): readonly string[] {
  const { name, dependencies, devDependencies } = manifestOf(file);
  const problems = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([dependency, version]) => `${file.path} wants ${dependency} ${version}, which is not an exact version`);
  const row = packageTable.find(candidate => file.path === `packages/${candidate.name}/package.json`);
  if (row === undefined) return problems;
  if (name !== publicName(row.name)) problems.push(`${file.path} is named ${name}, not ${publicName(row.name)}`);
  const usesTestkit = TESTKIT_USERS.some(user => user.startsWith(`packages/${row.name}/`));
  const allowed = (dependency: string) => {
    const internal = internalName(dependency);
    if (internal === undefined) return true;
    return internal === 'testkit' ? usesTestkit : row.mayImport.includes(internal);
  };
  const refused = [
    ...Object.keys(dependencies).filter(dependency => !allowed(dependency)),
    ...Object.keys(devDependencies).filter(
      dependency => internalName(dependency) !== 'testkit' && !allowed(dependency),
    ),
  ];
  return [...problems, ...refused.map(dependency => `${file.path} lists ${dependency}, which its row does not allow`)];
}

/** One version of everything: a bundle cannot hold two, and two copies of a schema library do not know each other. */
function disagreements(manifests: readonly SourceFile[]): readonly string[] {
  const first = new Map<string, { readonly version: string; readonly path: string }>();
  return manifests.flatMap(file => {
    const { dependencies, devDependencies } = manifestOf(file);
    return Object.entries({ ...devDependencies, ...dependencies }).flatMap(([name, version]) => {
      const other = first.get(name);
      if (other === undefined) first.set(name, { version, path: file.path });
      return other === undefined || other.version === version
        ? []
        : [`${file.path} wants ${name} ${version} where ${other.path} wants ${other.version}`];
    });
  });
}
