import { Link } from '@tanstack/react-router';
import { Empty } from '../frame/notices.tsx';

export function NoSuchPage() {
  return (
    <Empty title="There is no such page">
      <Link to="/runs">See the runs</Link>
    </Empty>
  );
}
