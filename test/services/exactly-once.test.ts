/**
 * Messages come ten times each and out of order, and who counts is killed again and again: the aggregates are those of
 * a recount, to the last digit.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { allTaken } from "../support/counting.ts";
import { connectTo } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { startKillableMesh } from "../support/mesh.ts";
import { repeatMessages, startNats } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { aggregated, expectAgreement, randomEvents, recordAll } from "../support/recount.ts";
import { random } from "../support/random.ts";

const owner = new Owner();
afterAll(() => owner.close());

const kills = 6;
const repeats = 9;
const [from, to] = ["2026-03-20T00:00:00Z", "2026-04-05T00:00:00Z"];

test("aggregates equal a recount", { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-exactly-once-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner);
  const daybook = connectTo(mesh.addresses);
  const api = await daybook.newProperty();
  const people = await Promise.all(Array.from({ length: 40 }, () => newProfile(api)));
  const stopRepeating = await repeatMessages(natsUrl, "daybook.event.recorded", repeats);

  const over = new AbortController();
  const writers = Array.from({ length: 3 }, async () => {
    while (!over.signal.aborted) {
      const theirs = people.map(({ id }) => ({ profile_id: id }));
      await recordAll(api, randomEvents(1 + random(300), from, to, theirs));
    }
  });
  const merging = (async () => {
    for (const [index, { id }] of people.slice(0, 10).entries()) {
      const { status } = await api.post(`${people[index + 10]?.path}/merge`, { source_profile_id: id });
      expect(status).toBe(200);
      await sleep(random(300));
    }
  })();
  for (let kill = 0; kill < kills; kill++) {
    await sleep(random(500));
    await mesh.restart("metric");
  }
  over.abort();
  await Promise.all([...writers, merging]);
  expect(await stopRepeating()).toBeGreaterThan(repeats * 10);

  await allTaken(daybook);
  await aggregated(api, { metric: "order.completed", from, to });
  for (const timezone of ["Europe/Berlin", "America/St_Johns"]) {
    for (const interval of [undefined, "hour", "day", "week", "month"] as const) {
      await expectAgreement(daybook, api, { interval, from, to, timezone, groupBy: ["source", "currency"] });
    }
  }
});
