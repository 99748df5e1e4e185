/** Grey shapes where data will be. They say that something loads, once, to those who do not see them. */

export function Skeleton({ lines = 3 }: { lines?: number }): React.ReactNode {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton-line" />
      ))}
    </div>
  );
}

export function ScreenSkeleton(): React.ReactNode {
  return (
    <div className="screen">
      <Skeleton lines={8} />
    </div>
  );
}
