/**
 * Leaves an audit entry of every audited call, once its outcome is known.
 *
 * The entry is written before the answer is sent. A call that only reads fails without its entry, so that nothing is
 * shown unaudited. A write cannot be taken back: its entry is tried again, and one that cannot be written in the end is
 * logged as an error with all of its fields but the email. A process that is killed between an act and its entry leaves
 * the line that is logged before each act.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import type { AuditEntrySchema, Member, MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import type { Log } from "#shared/process/log.ts";
import { isId } from "#shared/values/ids.ts";
import type { Exchange, Method } from "./method.ts";

export type Entry = MessageInitShape<typeof AuditEntrySchema> & { succeeded: boolean };

/** What begins a session: signing in, or a link for a new account or for another password. */
export type SignInAction = "sign_in" | "account_made" | "password_replaced";

/** Consent to an app, which is given on a page of its own. */
const installAction = "app_installed";

export interface Audit {
  /** Logs an act that is about to be done. */
  announce(exchange: Exchange, method: Method, propertyId: string | undefined): void;
  /** Writes the entry of an act. @throws DaybookError for a call that only reads. */
  record(exchange: Exchange, method: Method, entry: Entry): Promise<void>;
  /** Writes the entry of what began a session. */
  recordSignIn(request: FastifyRequest, member: Member, action: SignInAction): Promise<void>;
  /** Writes the entry of a consent to an app. */
  recordInstall(request: FastifyRequest, member: Member, entry: Entry): Promise<void>;
}

const retryDelaysMs: readonly number[] = [200, 1_000, 3_000];
const timeoutMs = 3_000;

export function createAudit(members: Client<typeof MemberService>, log: Log): Audit {
  const completed = (request: FastifyRequest, member: Member, action: string) => ({
    memberId: member.id,
    memberEmail: member.email,
    action,
    address: request.ip,
    requestId: request.id,
  });
  const nameOf = ({ desc }: Method): string => `${desc.parent.typeName}/${desc.name}`;

  async function write(entry: Entry & { memberId: string; requestId: string }): Promise<void> {
    const { requestId, memberId: caller } = entry;
    await members.recordAudit({ entry }, callOptions({ requestId, caller }, timeoutMs));
  }

  async function writeInTheEnd(entry: Entry & { memberId: string; requestId: string }): Promise<void> {
    for (const delayMs of retryDelaysMs) {
      try {
        await write(entry);
        return;
      } catch {
        await sleep(delayMs);
      }
    }
    try {
      await write(entry);
    } catch (error) {
      const { memberEmail: _email, ...logged } = entry;
      log.error({ err: error, entry: logged }, "an audit entry could not be written");
    }
  }

  return {
    announce({ request, viewer }, method, propertyId) {
      const { memberEmail: _email, ...fields } = completed(request, viewer.member, nameOf(method));
      log.info({ ...fields, propertyId }, "an audited act begins");
    },
    async record({ request, viewer }, method, entry) {
      const whole = { ...completed(request, viewer.member, nameOf(method)), ...entry };
      await (method.reads ? write(whole) : writeInTheEnd(whole));
    },
    async recordSignIn(request, member, action) {
      await writeInTheEnd({ ...completed(request, member, action), succeeded: true });
    },
    async recordInstall(request, member, entry) {
      await writeInTheEnd({ ...completed(request, member, installAction), ...entry });
    },
  };
}

/** Ids that an entry may hold: of what the browser sent, only what has the form of one. */
export function idsOf(candidates: readonly (string | undefined)[]): string[] {
  return candidates.filter((id): id is string => id !== undefined && isId(id));
}
