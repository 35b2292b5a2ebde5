import { Link } from '@tanstack/react-router';

export function NoSuchPage() {
  return (
    <div className="empty">
      <h1>Page not found</h1>
      <Link to="/runs">See all runs</Link>
    </div>
  );
}
