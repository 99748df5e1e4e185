/**
 * The role of the services in the embedded database. It is no superuser, so SQL that runs as a service can neither read
 * files of the machine nor run programs.
 */
import pg from "pg";

export const servicesRole = "daybook_services";

/**
 * Creates the role if missing, sets its password, and lets it create schemas and own those that a superuser created
 * before the role existed. Idempotent except for the password.
 * @param superuserUrl of the services' database.
 */
export async function prepareServicesRole(superuserUrl: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("BEGIN");
    // A failed statement would be logged with the password.
    await client.query("SET LOCAL log_min_error_statement = panic");
    const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [servicesRole]);
    if (rowCount === 0) await client.query(`CREATE ROLE ${servicesRole}`);
    await client.query(
      `ALTER ROLE ${servicesRole} LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS
       PASSWORD ${client.escapeLiteral(password)}`,
    );
    await client.query(giveAway);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

// Not REASSIGN OWNED, because PostgreSQL refuses it for the superuser that initdb created. Sequences owned by columns
// follow their table.
const giveAway = `
DO $$
DECLARE
  statement text;
BEGIN
  EXECUTE format('GRANT CREATE ON DATABASE %I TO ${servicesRole}', current_database());
  FOR statement IN
    SELECT format('ALTER SCHEMA %I OWNER TO ${servicesRole}', nspname)
    FROM pg_namespace
    WHERE nspowner = current_user::regrole AND nspname IN ('identity', 'profile', 'event', 'metric', 'webhook')
    UNION ALL
    SELECT format('ALTER TABLE %s OWNER TO ${servicesRole}', c.oid::regclass)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relowner = current_user::regrole AND n.nspname IN ('identity', 'profile', 'event', 'metric', 'webhook')
      AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
  LOOP
    EXECUTE statement;
  END LOOP;
END $$`;
