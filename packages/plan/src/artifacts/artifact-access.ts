import type { ArtifactId, Json } from '@signalbox/model';
import type { ArtifactInput } from '@signalbox/runs';

interface ArtifactOptions {
  /** Artifacts with the same key are versions of one thing, and the last is shown. Without a key, each stands alone. */
  readonly key?: string;
}

/** A row of a table: its members are columns. */
interface TableRow {
  readonly [column: string]: Json;
}

/** Creates artifacts for people to see. Each function returns the artifact's id; refer to it as `artifact://<id>`. */
export interface ArtifactAccess<Made = ArtifactId> {
  markdown(name: string, content: string, options?: ArtifactOptions): Made;
  table(name: string, columns: readonly string[], rows: readonly TableRow[], options?: ArtifactOptions): Made;
  /** Give it a key, so that later calls update it in place. */
  progress(name: string, current: number, total: number, options?: ArtifactOptions & { readonly label?: string }): Made;
  link(name: string, url: string, options?: ArtifactOptions & { readonly label?: string }): Made;
  /** Bytes, a data URL, or the path of a file under the run's root. */
  image(name: string, data: Uint8Array | string, options?: ArtifactOptions & { readonly alt?: string }): Made;
}

/** Builds the five functions from one. `readFile` is used if `image` gets a path. */
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
