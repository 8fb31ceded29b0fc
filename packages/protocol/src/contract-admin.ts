/** The operations for administration: rules, audit log, tokens, sign-in, backup. */
import { z } from 'zod'
import { AnswerKind } from './answer.ts'
import { Ask } from './ask.ts'
import { Cursor, RequestId, RuleId, SessionId, TokenId } from './ids.ts'
import { limits } from './limits.ts'
import {
  afterXorBefore,
  emptyObject,
  everyone,
  logPageParams,
  noInput,
  type Operation,
  pageOf,
  people,
  Role,
} from './operation.ts'
import { Delivery, Request, Resolution } from './request.ts'
import { Rule, RuleDraft, Verdict } from './rule.ts'

export const Token = z
  .object({
    id: TokenId,
    role: Role,
    name: z.string().describe('The name of the person or program that uses it.'),
    madeAt: z.int().describe('When it was created, in epoch milliseconds.'),
    expiresAt: z.int().nullable().describe('When it expires, in epoch milliseconds; null if it does not.'),
  })
  .describe('A credential, without its secret.')
export type Token = z.infer<typeof Token>

/** Joins a `request.resolved` event with the current request and session title. A deleted session has no entries. */
export const AuditEntry = z
  .object({
    cursor: Cursor,
    at: z.int().describe('When the request was resolved, in epoch milliseconds.'),
    session: SessionId,
    request: RequestId,
    digest: z.string().describe('The digest of the request.'),
    resolution: Resolution,
    delivery: Delivery.describe('The current delivery.'),
    value: Request.describe('The request as it is now.'),
    title: z.string().describe('The title of its session.'),
  })
  .describe('One decision of the audit log.')
export type AuditEntry = z.infer<typeof AuditEntry>

/** A path on the gateway's machine. It must be absolute because the caller does not know the gateway's working folder. */
const AbsolutePath = z
  .string()
  .max(limits.pathMax)
  .refine(path => !path.includes('\0'), 'must not contain a NUL character')
  .refine(path => /^(\/|\\\\|[a-z]:[\\/])/i.test(path), 'must be an absolute path on the gateway’s machine')

export const adminOps = {
  listRules: {
    method: 'GET',
    path: '/rules',
    roles: people,
    summary: 'List the rules.',
    input: noInput,
    output: pageOf(Rule),
  },
  addRule: {
    method: 'POST',
    path: '/rules',
    roles: people,
    status: 201,
    summary: 'Add a rule.',
    faults: ['unsupported'],
    input: RuleDraft,
    output: Rule,
  },
  removeRule: {
    method: 'DELETE',
    path: '/rules/:id',
    roles: people,
    summary: 'Remove a rule.',
    faults: ['not_found'],
    input: z.strictObject({ id: RuleId }),
    output: emptyObject,
  },
  checkRules: {
    method: 'POST',
    path: '/rules/check',
    roles: people,
    summary: 'Show what the rules would decide about an ask. Nothing is resolved.',
    faults: ['unsupported'],
    input: z.strictObject({
      ask: Ask,
      driver: z.string().optional().describe('Evaluate as if a session of this driver asked.'),
      rules: z
        .array(RuleDraft)
        .max(limits.rulesMax)
        .optional()
        .describe('Evaluate these rules instead of the stored ones.'),
    }),
    output: Verdict,
  },
  listAudit: {
    method: 'GET',
    path: '/audit',
    roles: people,
    summary: 'Read or search the audit log. A page can be short or empty and still have a `next`.',
    faults: ['gone'],
    input: afterXorBefore(
      z.strictObject({
        ...logPageParams,
        session: SessionId.optional().describe('Only requests of this session.'),
        by: Resolution.shape.by
          .optional()
          .describe('Only requests resolved by a person, a rule, the deadline or the agent.'),
        answer: AnswerKind.optional().describe('Only answers of this kind.'),
        person: z.string().max(limits.nameMax).optional().describe('Only answers of this person.'),
        q: z.string().max(limits.nameMax).optional().describe('Only entries that contain this text.'),
      }),
    ),
    output: pageOf(AuditEntry),
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    roles: people,
    summary: 'List the tokens, without their secrets.',
    input: noInput,
    output: pageOf(Token),
  },
  addToken: {
    method: 'POST',
    path: '/tokens',
    roles: people,
    status: 201,
    summary: 'Create a token. Its secret is returned only once.',
    faults: ['gone'],
    input: z.strictObject({
      role: Role.exclude(['runner']).describe('Who the token is for.'),
      name: z.string().min(1).max(limits.nameMax).describe('The name of the person or program that uses it.'),
      expiresAt: z.int().optional().describe('When it expires, in epoch milliseconds. Without it, never.'),
    }),
    output: Token.extend({ secret: z.string().describe('The secret to send as Authorization: Bearer.') }),
  },
  removeToken: {
    method: 'DELETE',
    path: '/tokens/:id',
    roles: people,
    summary: 'Revoke a token.',
    faults: ['not_found'],
    input: z.strictObject({ id: TokenId }),
    output: emptyObject,
  },
  signIn: {
    method: 'POST',
    path: '/sign-in',
    roles: ['anyone'],
    summary: 'Sign in a browser: exchange a one-use code for a cookie.',
    input: z.strictObject({ code: z.string().min(1).max(limits.keyMax).describe('The code from a sign-in link.') }),
    output: z.object({ person: z.string().describe('The name of the signed-in person.') }),
  },
  signOut: {
    method: 'POST',
    path: '/sign-out',
    roles: people,
    summary: 'Sign out: revoke the cookie.',
    input: noInput,
    output: emptyObject,
  },
  makeLink: {
    method: 'POST',
    path: '/links',
    roles: people,
    status: 201,
    summary: 'Create a one-use code that signs in another browser.',
    faults: ['gone'],
    input: noInput,
    output: z.object({
      code: z.string().describe('The code, for `signIn`.'),
      expiresAt: z.int().describe('When it expires, in epoch milliseconds.'),
    }),
  },
  whoAmI: {
    method: 'GET',
    path: '/me',
    roles: everyone,
    summary: 'Show who the credential belongs to.',
    input: noInput,
    output: z.object({
      person: z.string().describe('The name of the caller.'),
      role: Role,
      now: z.int().describe('The gateway’s time in epoch milliseconds.'),
    }),
  },
  backup: {
    method: 'POST',
    path: '/backup',
    roles: people,
    summary: 'Copy the store into a new file on the gateway’s machine.',
    faults: ['unsupported'],
    input: z.strictObject({ file: AbsolutePath.describe('The absolute path of a file that does not exist yet.') }),
    output: z.object({
      file: z.string().describe('The path of the backup.'),
      bytes: z.int().describe('Its size in bytes.'),
      cursor: Cursor.describe('The last event that it contains.'),
    }),
  },
} as const satisfies Record<string, Operation>
