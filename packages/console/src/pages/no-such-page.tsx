import { Link } from '@tanstack/react-router';

export function NoSuchPage() {
  return (
    <div className="empty">
      <h1>There is no such page</h1>
      <Link to="/runs">See the runs</Link>
    </div>
  );
}
