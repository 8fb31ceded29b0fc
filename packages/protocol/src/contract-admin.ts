/** Operations of the house: rules, the record, credentials, keeping. */
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
  type Operation,
  pageOf,
  people,
  Role,
} from './operation.ts'
import { Delivery, Request, Resolution } from './request.ts'
import { Rule, RuleDraft, Verdict } from './rule.ts'

export const Token = z.object({
  id: TokenId,
  role: Role,
  name: z.string(),
  madeAt: z.int(),
  expiresAt: z.int().nullable(),
})
export type Token = z.infer<typeof Token>

/** A resolution as the log tells it, with its request and the title of its session as they stand now. A deleted session has no lines. */
export const AuditEntry = z.object({
  cursor: Cursor,
  at: z.int(),
  session: SessionId,
  request: RequestId,
  digest: z.string(),
  resolution: Resolution,
  /** The newest. */
  delivery: Delivery,
  value: Request,
  title: z.string(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** Of the gateway's machine, whose working folder the caller does not know. */
const AbsolutePath = z
  .string()
  .max(limits.pathMax)
  .refine(path => !path.includes('\0'), 'must not hold a NUL character')
  .refine(path => /^(\/|\\\\|[a-z]:[\\/])/i.test(path), 'must be an absolute path on the gateway’s machine')

export const adminOps = {
  listRules: {
    method: 'GET',
    path: '/rules',
    roles: people,
    summary: 'Standing answers',
    input: z.strictObject({}),
    output: pageOf(Rule),
  },
  addRule: {
    method: 'POST',
    path: '/rules',
    roles: people,
    status: 201,
    summary: 'Keep a standing answer',
    input: RuleDraft,
    output: Rule,
  },
  removeRule: {
    method: 'DELETE',
    path: '/rules/:id',
    roles: people,
    summary: 'Revoke a standing answer',
    input: z.strictObject({ id: RuleId }),
    output: emptyObject,
  },
  checkRules: {
    method: 'POST',
    path: '/rules/check',
    roles: people,
    summary: 'What the rules say of an ask; decides nothing',
    input: z.strictObject({
      ask: Ask,
      driver: z.string().optional(),
      rules: z.array(RuleDraft).max(limits.rulesMax).optional(),
    }),
    output: Verdict,
  },
  listAudit: {
    method: 'GET',
    path: '/audit',
    roles: people,
    summary: 'The record of resolutions; a page may be short, or empty, and yet have a next',
    input: afterXorBefore(
      z.strictObject({
        ...logPageParams,
        session: SessionId.optional(),
        by: Resolution.shape.by.optional(),
        answer: AnswerKind.optional(),
        person: z.string().max(limits.nameMax).optional(),
        q: z.string().max(limits.nameMax).optional(),
      }),
    ),
    output: pageOf(AuditEntry),
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    roles: people,
    summary: 'Credentials, without their secrets',
    input: z.strictObject({}),
    output: pageOf(Token),
  },
  addToken: {
    method: 'POST',
    path: '/tokens',
    roles: people,
    status: 201,
    summary: 'Make a credential; its secret is shown once',
    input: z.strictObject({
      role: z.enum(['person', 'agent']),
      name: z.string().min(1).max(limits.nameMax),
      expiresAt: z.int().optional(),
    }),
    output: Token.extend({ secret: z.string() }),
  },
  removeToken: {
    method: 'DELETE',
    path: '/tokens/:id',
    roles: people,
    summary: 'Revoke a credential',
    input: z.strictObject({ id: TokenId }),
    output: emptyObject,
  },
  signIn: {
    method: 'POST',
    path: '/sign-in',
    roles: ['anyone'],
    summary: 'Turn a one-use code into a cookie',
    input: z.strictObject({ code: z.string().min(1).max(limits.keyMax) }),
    output: z.object({ person: z.string() }),
  },
  signOut: {
    method: 'POST',
    path: '/sign-out',
    roles: people,
    summary: 'End the cookie’s session',
    input: z.strictObject({}),
    output: emptyObject,
  },
  makeLink: {
    method: 'POST',
    path: '/links',
    roles: people,
    status: 201,
    summary: 'A one-use code for another browser',
    input: z.strictObject({}),
    output: z.object({ code: z.string(), expiresAt: z.int() }),
  },
  whoAmI: {
    method: 'GET',
    path: '/me',
    roles: everyone,
    summary: 'Who the credential is',
    input: z.strictObject({}),
    output: z.object({ person: z.string(), role: Role, now: z.int() }),
  },
  backup: {
    method: 'POST',
    path: '/backup',
    roles: people,
    summary: 'Copy the whole archive into a new file on the gateway’s machine',
    input: z.strictObject({ file: AbsolutePath }),
    output: z.object({ file: z.string(), bytes: z.int(), cursor: Cursor }),
  },
} as const satisfies Record<string, Operation>
