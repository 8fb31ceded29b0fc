/** The operations for administration: rules, the audit log, tokens, sign-in and backups. */
import { z } from 'zod'
import { Role } from './access.ts'
import { AnswerKind } from './answer.ts'
import { AskInput } from './ask.ts'
import { Event } from './event.ts'
import { tokenHintLength } from './gateway-proof.ts'
import { Cursor, PersonId, RequestId, RuleId, RunnerId, SessionId, TokenId } from './ids.ts'
import { limits } from './limits.ts'
import { afterXorBefore, emptyObject, logPageParams, noInput, type Operation, pageOf } from './operation.ts'
import { AgentPath, Delivery, Request, Resolution } from './request.ts'
import { Rule, RuleDraft, RulePreview, RuleProposal, Verdict } from './rule.ts'

export const Token = z
  .object({
    id: TokenId,
    kind: z
      .enum(['bearer', 'cookie'])
      .describe('"bearer": a token for programs and commands. "cookie": a signed-in browser.'),
    role: Role,
    name: z.string().describe('The name of the person or program that uses the token.'),
    person: PersonId.nullable().describe('The person whom the token belongs to; null for runners and agents.'),
    runner: RunnerId.nullable().describe('The runner whom the token belongs to; null for everyone else.'),
    madeBy: TokenId.nullable().describe(
      'The token that created this one; null for the tokens in the data folder. Revoking a token also revokes the tokens that it created.',
    ),
    madeAt: z.int().describe('When the token was created, in epoch milliseconds.'),
    expiresAt: z.int().nullable().describe('When the token expires, in epoch milliseconds; null if it never expires.'),
    lastUsedAt: z
      .int()
      .nullable()
      .describe('When the token was last used, to the minute, in epoch milliseconds; null if it never was.'),
  })
  .describe('A credential, without its secret.')
export type Token = z.infer<typeof Token>

/** A decision in the audit log: a `request.resolved` event with the current state of the request, and the title, folder and driver of the session. Requests of deleted sessions have no such entries; `session.deleted` keeps who decided what. */
const AuditDecision = z
  .object({
    kind: z.literal('decision').describe('A request was resolved.'),
    cursor: Cursor,
    at: z.int().describe('When the request was resolved, in epoch milliseconds.'),
    session: SessionId,
    request: RequestId,
    digest: z.string().describe('The digest of the request.'),
    resolution: Resolution,
    delivery: Delivery.describe('The current state of the delivery.'),
    value: Request.describe('The current state of the request.'),
    title: z.string().describe('The title of the session.'),
    cwd: z.string().describe('The folder of the session.'),
    driver: z.string().describe('The driver of the session.'),
  })
  .describe('How and when a request was resolved.')
export type AuditDecision = z.infer<typeof AuditDecision>

const AuditNotice = z
  .object({
    kind: z.literal('notice').describe('Something else happened that an auditor should know.'),
    cursor: Cursor,
    at: z.int().describe('When it happened, in epoch milliseconds.'),
    session: SessionId.nullable().describe('The session of the event; null if it belongs to no session.'),
    event: Event,
  })
  .describe(
    'A change of rules or credentials, a deleted session, a changed clock, lost or restored data, or a refused attempt.',
  )
export type AuditNotice = Omit<z.infer<typeof AuditNotice>, 'event'> & { readonly event: Event }

export const AuditEntry = z
  .discriminatedUnion('kind', [AuditDecision, AuditNotice])
  .describe('One entry of the audit log.')
export type AuditEntry = AuditDecision | AuditNotice

/** A path on the gateway's machine. The path must be absolute because the caller does not know the gateway's working folder. */
const AbsolutePath = z
  .string()
  .max(limits.pathMax)
  .refine(path => !path.includes('\0'), 'must not contain a NUL character')
  .refine(path => /^(\/|\\\\|[a-z]:[\\/])/i.test(path), 'must be an absolute path on the gateway’s machine')

const signInCode = z.strictObject({
  code: z.string().min(1).max(limits.keyMax).describe('The code from a sign-in link.'),
})

const revokedTokens = z
  .array(Token)
  .describe('The tokens that were revoked: the named one, and those that were created with it.')

export const adminOps = {
  listRules: {
    method: 'GET',
    path: '/rules',
    summary: 'List the rules.',
    input: noInput,
    output: pageOf(Rule),
  },
  addRule: {
    method: 'POST',
    path: '/rules',
    status: 201,
    summary: 'Add a rule. Only the owner can add one that allows something.',
    faults: ['unsupported'],
    input: RuleDraft,
    output: Rule,
  },
  patchRule: {
    method: 'PATCH',
    path: '/rules/:id',
    summary:
      'Replace a rule, or pause it. The rule keeps its id and gets a new version. Only the owner can change somebody else’s rule, or put a rule into effect that allows something.',
    faults: ['not_found', 'unsupported', 'version_conflict'],
    input: z.strictObject({
      id: RuleId,
      version: z
        .int()
        .optional()
        .describe('The version that you have read. If the rule has another version by now, it is not changed.'),
      paused: z.boolean().optional().describe('Pauses the rule, or puts it into effect again.'),
      rule: RuleDraft.optional().describe('The new content of the rule.'),
    }),
    output: Rule,
  },
  previewRule: {
    method: 'POST',
    path: '/rules/preview',
    summary: 'Show which of the latest resolved requests, and which pending ones, a rule would have matched.',
    faults: ['unsupported'],
    input: z.strictObject({ rule: RuleDraft }),
    output: RulePreview,
  },
  removeRule: {
    method: 'DELETE',
    path: '/rules/:id',
    summary: 'Remove a rule. Only the owner can remove somebody else’s rule.',
    faults: ['not_found'],
    input: z.strictObject({ id: RuleId }),
    output: emptyObject,
  },
  proposeRules: {
    method: 'GET',
    path: '/requests/:id/rules',
    summary: 'Propose the narrowest useful rules that would allow this request and the same kind of request later.',
    faults: ['not_found'],
    input: z.strictObject({ id: RequestId }),
    output: z.object({
      items: z.array(RuleProposal).describe('The proposals, the narrowest first.'),
      reason: z.string().optional().describe('Why there are no proposals.'),
    }),
  },
  checkRules: {
    method: 'POST',
    path: '/rules/check',
    summary: 'Show what the rules would decide about an ask, without opening a request.',
    faults: ['not_found', 'unsupported'],
    input: z.strictObject({
      ask: AskInput,
      session: SessionId.optional().describe(
        'Evaluate as if this session asked. `driver` and `cwd` then have no effect.',
      ),
      driver: z.string().optional().describe('Evaluate as if a session of this driver asked.'),
      cwd: z
        .string()
        .max(limits.pathMax)
        .optional()
        .describe('Evaluate as if the session ran in this folder. Default: the folder of the ask.'),
      agentPath: AgentPath.optional(),
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
    summary: 'Read or search the audit log. A short or even empty page can still have a `next`.',
    faults: ['gone'],
    input: afterXorBefore(
      z.strictObject({
        ...logPageParams,
        session: SessionId.optional().describe('Only requests of this session.'),
        by: Resolution.shape.by
          .optional()
          .describe('Only requests resolved by a person, a rule, the deadline or the agent.'),
        answer: AnswerKind.optional().describe('Only requests that were resolved with this kind of answer.'),
        person: z
          .string()
          .max(limits.nameMax)
          .optional()
          .describe('Only requests that this person answered. Takes the id or the name of the person.'),
        q: z.string().max(limits.nameMax).optional().describe('Only entries that contain this text.'),
        from: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe('Only entries from this time on, in epoch milliseconds.'),
        to: z.coerce.number().int().min(0).optional().describe('Only entries before this time, in epoch milliseconds.'),
        folder: z
          .string()
          .max(limits.pathMax)
          .optional()
          .describe('Only entries of sessions in this folder or in a folder below it.'),
        include: z
          .enum(['notices'])
          .optional()
          .describe('"notices" also returns entries that are not decisions, unless `by`, `answer` or `person` is set.'),
      }),
    ),
    output: pageOf(AuditEntry),
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    summary: 'List the tokens, without their secrets.',
    input: noInput,
    output: pageOf(Token),
  },
  addToken: {
    method: 'POST',
    path: '/tokens',
    status: 201,
    summary: 'Create a token. Only this reply contains the secret.',
    faults: ['gone', 'not_found'],
    input: z.strictObject({
      role: Role.exclude(['owner']).describe('Who the token is for. A runner’s token is for a new runner.'),
      name: z.string().min(1).max(limits.nameMax).describe('The name of the person or program that uses the token.'),
      person: PersonId.optional().describe(
        'Give another token to this person. By default, a token with the role "person" is for a new person, even if somebody has the same name.',
      ),
      expiresAt: z
        .int()
        .optional()
        .describe('When the token expires, in epoch milliseconds. By default, it never expires.'),
    }),
    output: Token.extend({
      secret: z.string().describe('The secret of the token. Send it in the header `Authorization: Bearer`.'),
    }),
  },
  removeToken: {
    method: 'DELETE',
    path: '/tokens/:id',
    summary: 'Revoke a token, and everything that was created with it.',
    faults: ['not_found'],
    input: z.strictObject({ id: TokenId }),
    output: z.object({ revoked: revokedTokens }),
  },
  rotateToken: {
    method: 'POST',
    path: '/tokens/:id/rotate',
    summary:
      'Replace a token with a new one for the same person, runner or agent, and revoke the old one with everything that was created with it.',
    faults: ['gone', 'not_found'],
    input: z.strictObject({ id: TokenId }),
    output: Token.extend({
      secret: z
        .string()
        .nullable()
        .describe(
          'The secret of the new token. Only this reply contains it. Null if the gateway has written the secret into the token file of its data folder.',
        ),
      revoked: revokedTokens,
    }),
  },
  signIn: {
    method: 'POST',
    path: '/sign-in',
    summary: 'Sign in a browser by exchanging a one-time code for a cookie and a page secret.',
    input: signInCode,
    output: z.object({
      person: z.string().describe('The name of the signed-in person.'),
      personId: PersonId.describe('The id of the signed-in person.'),
      role: Role.describe('What the signed-in person may do.'),
      pageSecret: z
        .string()
        .describe('The secret that the page must send with its cookie, in the header `x-holdpoint-page`.'),
    }),
  },
  describeLink: {
    method: 'POST',
    path: '/sign-in/describe',
    summary: 'Show who would be signed in by a one-time code, without using the code.',
    input: signInCode,
    output: z.object({
      person: z.string().describe('The name of the person whom the code signs in.'),
      personId: PersonId.describe('The id of the person whom the code signs in.'),
      expiresAt: z.int().describe('When the code expires, in epoch milliseconds.'),
    }),
  },
  proveGateway: {
    method: 'POST',
    path: '/proof',
    summary: 'Prove to a client that this is the gateway that knows its token, before the client sends the token.',
    input: z.strictObject({
      hint: z
        .string()
        .regex(new RegExp(`^[0-9a-f]{${tokenHintLength}}$`), `must be ${tokenHintLength} hex digits`)
        .describe('The first 16 hex digits of the SHA-256 of the token.'),
      nonce: z
        .string()
        .regex(/^[0-9a-f]{32,64}$/, 'must be 32 to 64 hex digits')
        .describe('A random value that the client uses only once.'),
    }),
    output: z.object({
      address: z.string().describe('The address at which the gateway accepted this connection.'),
      proof: z
        .string()
        .describe(
          'The HMAC-SHA256 in hex, under the SHA-256 of the token in hex, of four lines: `holdpoint proof 1`, the nonce, the Host header and the address.',
        ),
    }),
  },
  signOut: {
    method: 'POST',
    path: '/sign-out',
    summary: 'Sign out and revoke the cookie.',
    input: noInput,
    output: emptyObject,
  },
  makeLink: {
    method: 'POST',
    path: '/links',
    status: 201,
    summary: 'Create a one-time code that signs in another browser.',
    faults: ['gone', 'not_found'],
    input: z.strictObject({
      person: PersonId.optional().describe('The person whom the code signs in. Default: the caller.'),
    }),
    output: z.object({
      code: z.string().describe('The code to pass to `signIn`.'),
      expiresAt: z.int().describe('When the code expires, in epoch milliseconds.'),
    }),
  },
  whoAmI: {
    method: 'GET',
    path: '/me',
    summary: 'Show who the credential belongs to.',
    input: noInput,
    output: z.object({
      person: z.string().describe('The name of the caller.'),
      id: z
        .union([PersonId, RunnerId, TokenId])
        .describe(
          'The id of the person or runner that the credential belongs to; for an agent, the id of its first token.',
        ),
      token: TokenId.describe('The id of the credential.'),
      role: Role,
      now: z.int().describe('The gateway’s time in epoch milliseconds.'),
    }),
  },
  backup: {
    method: 'POST',
    path: '/backup',
    summary: 'Copy the store into a new file on the gateway’s machine.',
    faults: ['unsupported'],
    input: z.strictObject({ file: AbsolutePath.describe('The absolute path of a file that does not exist yet.') }),
    output: z.object({
      file: z.string().describe('The path of the backup.'),
      bytes: z.int().describe('The size of the backup in bytes.'),
      cursor: Cursor.describe('The cursor of the last event in the backup.'),
    }),
  },
} as const satisfies Record<string, Operation>
