/** Sends what is due in the database at DATABASE_URL, until it is killed. */
import { Owner } from "#shared/process/lifecycle.ts";
import { openWebhooks, startLanes } from "./lanes.ts";

const owner = new Owner();
const database = await openWebhooks(process.env.DATABASE_URL ?? "", owner);
startLanes(database, owner);
process.once("SIGTERM", () => void owner.close().then(() => process.exit(0)));
process.stdout.write("sending\n");
