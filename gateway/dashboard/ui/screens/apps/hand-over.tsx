/** What a partner needs to know of Daybook for its app, beside the secret. */
import { Copy } from "../../components/copy.tsx";
import { KeyValues } from "../../components/page.tsx";
import { useViewer } from "../../data/viewer.ts";

export function HandOver({ appId }: { appId: string }): React.ReactNode {
  const { apiUrl } = useViewer();
  return (
    <>
      <p>
        Give these to the partner too. A library for OAuth 2.1 finds the other addresses by the issuer. The app sends a
        PKCE challenge by S256 with every request.
      </p>
      <KeyValues
        rows={{
          "Client id": <Copy text={appId} />,
          Issuer: <Copy text={apiUrl} />,
          Metadata: <Copy text={`${apiUrl}/.well-known/oauth-authorization-server`} />,
          Authorize: <Copy text={`${apiUrl}/oauth/authorize`} />,
          Token: <Copy text={`${apiUrl}/oauth/token`} />,
          Revoke: <Copy text={`${apiUrl}/oauth/revoke`} />,
        }}
      />
      <p className="help">
        They answer where an operator has set <code>PUBLIC_URL</code>.
      </p>
    </>
  );
}
