import { Panel } from '../shell/panel.tsx';
import { startWords as words } from './start-words.ts';

interface PlanFilesProps {
  readonly files: readonly string[];
  readonly isMore: boolean;
  /** The chosen file. */
  readonly file: string;
  onFile(file: string): void;
}

/** The plans of allowed directories that were not run yet. */
export function PlanFiles({ files, isMore, file: chosen, onFile }: PlanFilesProps) {
  if (files.length === 0) return null;
  return (
    <Panel title={words.allowed}>
      <ul className="earlier max-h-72 overflow-y-auto">
        {files.map(file => (
          <li key={file}>
            <button
              type="button"
              className="earlier-run"
              title={file}
              aria-pressed={file === chosen}
              onClick={() => onFile(file)}
            >
              <span className="truncate">{nameOf(file)}</span>
              <span className="truncate text-muted">{folderOf(file)}</span>
            </button>
          </li>
        ))}
      </ul>
      {isMore && <p className="px-3 pb-2 text-muted">{words.allowedMore}</p>}
    </Panel>
  );
}

const partsOf = (file: string): readonly string[] => file.split(/[\\/]/);

/** A plan in a folder of its own goes by the name of the folder. */
function nameOf(file: string): string {
  const [folder = '', name = ''] = partsOf(file).slice(-2);
  return name === 'plan.tsx' ? folder : name.replace(/\.tsx$/, '');
}

function folderOf(file: string): string {
  return partsOf(file).slice(-3, -1).join('/');
}
