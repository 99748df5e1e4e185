/** Where to read more of an app. */
export function Homepage({ url }: { url: string }): React.ReactNode {
  // Identity takes no other address. A link that runs something would be worse than none.
  if (!url.startsWith("https://")) return url;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {url.slice("https://".length)}
    </a>
  );
}
