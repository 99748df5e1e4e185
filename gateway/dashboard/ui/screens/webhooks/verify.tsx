/** What a receiver does with the secret. */

export function Verify(): React.ReactNode {
  return (
    <p>
      Your server verifies each message with it: any library for{" "}
      <a href="https://www.standardwebhooks.com" rel="noreferrer" target="_blank">
        Standard Webhooks
      </a>{" "}
      does that with the headers <code>webhook-id</code>, <code>webhook-timestamp</code> and{" "}
      <code>webhook-signature</code>. A message may come twice: its <code>webhook-id</code> stays the same.
    </p>
  );
}
