/** Creates JWTs like the NATS tool `nsc`: the user of NATS_CREDS is signed by an account, and that by the operator. */
import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

const limits = { subs: -1, data: -1, payload: -1 };
const accountLimits = { ...limits, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const jetstreamLimits = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

/** @returns lines for the server's configuration, and a credentials file. */
export function makeOperator(): { config: string; creds: string } {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const systemJwt = sign(operator, system, { type: "account", limits: accountLimits });
  const accountJwt = sign(operator, account, { type: "account", limits: { ...accountLimits, ...jetstreamLimits } });
  const operatorJwt = sign(operator, operator, { type: "operator", system_account: system.getPublicKey() });
  const userJwt = sign(account, user, { type: "user", ...limits });
  return {
    config: `operator: ${operatorJwt}
      system_account: ${system.getPublicKey()}
      resolver: MEMORY
      resolver_preload: { ${system.getPublicKey()}: ${systemJwt}, ${account.getPublicKey()}: ${accountJwt} }`,
    creds: `-----BEGIN NATS USER JWT-----
${userJwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${new TextDecoder().decode(user.getSeed())}
------END USER NKEY SEED------
`,
  };
}

function sign(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const claims = {
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: "test",
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("hex");
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode({ ...claims, jti })}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}
