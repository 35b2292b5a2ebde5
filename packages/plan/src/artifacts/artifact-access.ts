import type { ArtifactId, Json } from '@signalbox/model';
import type { ArtifactInput } from '@signalbox/runs';

interface ArtifactOptions {
  /** Artifacts with one key are versions of one thing, of which the last is shown. Without one, each is a thing of its own. */
  readonly key?: string;
}

/** A row of a table: its members are columns. */
interface TableRow {
  readonly [column: string]: Json;
}

/** What a plan keeps for people to see. Each answers with the artifact's id; it is referred to as `artifact://<id>`. */
export interface ArtifactAccess<Made = ArtifactId> {
  markdown(name: string, content: string, options?: ArtifactOptions): Made;
  table(name: string, columns: readonly string[], rows: readonly TableRow[], options?: ArtifactOptions): Made;
  /** Give it a key: then it moves on where it is shown. */
  progress(name: string, current: number, total: number, options?: ArtifactOptions & { readonly label?: string }): Made;
  link(name: string, url: string, options?: ArtifactOptions & { readonly label?: string }): Made;
  /** Bytes, a data URL, or the path of a file under the run's root. */
  image(name: string, data: Uint8Array | string, options?: ArtifactOptions & { readonly alt?: string }): Made;
}

/** The five ways to make an artifact, in one. `readFile` answers where `image` is given a path. */
export function artifactAccess<Made>(
  make: (input: ArtifactInput) => Made,
  readFile: (path: string) => Uint8Array,
): ArtifactAccess<Made> {
  return {
    markdown: (name, content, options) => make({ kind: 'markdown', name, content, ...options }),
    table: (name, columns, rows, options) => make({ kind: 'table', name, columns, rows, ...options }),
    progress: (name, current, total, options) => make({ kind: 'progress', name, current, total, ...options }),
    link: (name, url, options) => make({ kind: 'link', name, url, ...options }),
    image(name, data, options) {
      const isPath = typeof data === 'string' && !data.startsWith('data:');
      return make({ kind: 'image', name, data: isPath ? readFile(data) : data, ...options });
    },
  };
}
