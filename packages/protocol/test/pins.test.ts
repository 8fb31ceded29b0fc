/** Contains the contract and the list of faults as literals, so that an accidental change fails a test. */
import { describe, expect, it } from 'vitest'
import {
  contract,
  Fault,
  FaultBody,
  faultCodes,
  faultFromZod,
  faultStatus,
  type Operation,
  type OperationName,
  rolesFor,
} from '../src/index.ts'

/** For each operation: the method, path, the status unless it is 200, and the fields of the input. */
const surface = [
  'listDrivers: GET /drivers ()',
  'checkFolder: POST /folders/check (runner path)',
  'startSession: POST /sessions 201 (driver cwd prompt conversationId options capabilities mode model title parkAfterMs deadlineMs onDeadline)',
  'listSessions: GET /sessions (state q limit before)',
  'getSession: GET /sessions/:id (id)',
  'patchSession: PATCH /sessions/:id (id mode model title parkAfterMs)',
  'sendMessage: POST /sessions/:id/messages 202 (id text attachments)',
  'addAttachment: POST /sessions/:id/attachments 201 (id type mediaType name data)',
  'appendAttachment: POST /attachments/:id/parts (id part data)',
  'getAttachmentPart: GET /attachments/:id/parts/:part (id part)',
  'interruptSession: POST /sessions/:id/interrupt 202 (id)',
  'endSession: POST /sessions/:id/end 202 (id)',
  'deleteSession: DELETE /sessions/:id (id)',
  'stopEverything: POST /stop 202 ()',
  'listEvents: GET /sessions/:id/events (id after before limit)',
  'listRequests: GET /requests (status session limit after)',
  'getRequest: GET /requests/:id (id wait)',
  'answerRequest: POST /requests/:id/answer (id digest answer)',
  'answerRequests: POST /requests/answer (items)',
  'checkInput: POST /requests/:id/risk (id input)',
  'putDraft: PUT /requests/:id/draft (id draft)',
  'getDraft: GET /requests/:id/draft (id)',
  'deleteDraft: DELETE /requests/:id/draft (id)',
  'listWatchers: GET /watchers (session)',
  'listVariables: GET /sessions/:id/variables (id)',
  'setVariable: PUT /sessions/:id/variables/:name (id name value file)',
  'openRequest: POST /sessions/:id/requests 201 (id key ask agentPath events fence deadlineMs onDeadline)',
  'appendEvents: POST /sessions/:id/events (id items fence)',
  'checkTool: POST /sessions/:id/check (id tool input cwd action agentPath key fence)',
  'reportMoment: POST /sessions/:id/moments (id moment key text result call agentPath fence)',
  'setAgentVariable: POST /sessions/:id/variables (id name value fence)',
  'withdrawRequest: POST /requests/:id/withdraw (id fence)',
  'handOverRequest: POST /requests/:id/handover (id wait fence)',
  'reportDelivery: POST /requests/:id/delivery (id state reason fence)',
  'attachSession: POST /sessions/:id/attach (id runner incarnation)',
  'detachSession: POST /sessions/:id/detach (id fence ending)',
  'renewSession: POST /sessions/:id/renew (id fence)',
  'listCommands: GET /sessions/:id/commands (id wait after)',
  'takeCommand: POST /commands/:id/take (id fence)',
  'finishCommand: POST /commands/:id/done (id fence outcome)',
  'announceRunner: POST /runners 201 (id name drivers)',
  'renewRunner: POST /runners/:id/renew (id incarnation drivers)',
  'retireRunner: POST /runners/:id/retire (id incarnation)',
  'listWork: GET /runners/:id/work (id incarnation wait)',
  'listRunners: GET /runners ()',
  'listRules: GET /rules ()',
  'addRule: POST /rules 201 (effect tool action command args group path host mcp when scope expiresAt usesLeft until needs message note paused)',
  'patchRule: PATCH /rules/:id (id version paused rule)',
  'previewRule: POST /rules/preview (rule)',
  'removeRule: DELETE /rules/:id (id)',
  'proposeRules: GET /requests/:id/rules (id)',
  'checkRules: POST /rules/check (ask session driver cwd agentPath rules)',
  'listAudit: GET /audit (after before limit session by answer person q from to folder include)',
  'listTokens: GET /tokens ()',
  'addToken: POST /tokens 201 (role name person expiresAt)',
  'removeToken: DELETE /tokens/:id (id)',
  'rotateToken: POST /tokens/:id/rotate (id)',
  'signIn: POST /sign-in (code)',
  'describeLink: POST /sign-in/describe (code)',
  'proveGateway: POST /proof (hint nonce)',
  'signOut: POST /sign-out ()',
  'makeLink: POST /links 201 (person)',
  'whoAmI: GET /me ()',
  'backup: POST /backup (file)',
]

const statuses = {
  bad_json: 400,
  bad_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  wrong_origin: 403,
  not_found: 404,
  wrong_method: 405,
  too_slow: 408,
  already_resolved: 409,
  not_resolved: 409,
  digest_mismatch: 409,
  key_conflict: 409,
  version_conflict: 409,
  fenced: 409,
  lease_held: 409,
  session_ended: 409,
  session_live: 409,
  no_runner: 409,
  gone: 410,
  body_too_large: 413,
  unsupported_type: 415,
  wrong_host: 421,
  answer_mismatch: 422,
  idempotency_mismatch: 422,
  unsupported: 422,
  too_many: 429,
  headers_too_large: 431,
  internal: 500,
  store_damaged: 500,
  store_unavailable: 503,
  store_locked: 503,
  store_read_only: 503,
  store_full: 503,
  store_newer: 503,
  store_older: 503,
  store_lost: 503,
  draining: 503,
}

describe('the contract', () => {
  const operations = Object.entries<Operation>(contract)
  it('the contract has exactly the operations that are listed in this file', () => {
    expect(
      operations.map(
        ([name, op]) =>
          `${name}: ${op.method} ${op.path}${op.status ? ` ${op.status}` : ''} (${Object.keys(op.input.shape).join(' ')})`,
      ),
    ).toEqual(surface)
  })
  it.each(operations)(
    'the contract includes %s, which refuses unknown fields and has every path parameter in its input',
    (_name, op) => {
      const unknown = op.input.safeParse({ surely_unknown: 1 })
      expect(unknown.error?.issues.some(issue => issue.code === 'unrecognized_keys')).toBe(true)
      for (const part of op.path.matchAll(/:(\w+)/g)) expect(Object.keys(op.input.shape)).toContain(part[1])
    },
  )
  it('the contract has no two operations with the same route', () => {
    const routes = operations.map(([, op]) => `${op.method} ${op.path.replace(/:\w+/g, ':')}`)
    expect(new Set(routes).size).toBe(routes.length)
  })
  it('the contract allows only people to answer requests (G8)', () => {
    for (const name of Object.keys(contract) as OperationName[])
      if (name.startsWith('answer')) expect(rolesFor(name)).toEqual(['owner', 'person'])
  })
})

describe('a fault', () => {
  it('a fault has one of the codes and statuses that are listed in this file', () => {
    expect(faultStatus).toEqual(statuses)
    expect(faultCodes).toEqual(Object.keys(statuses))
  })
  it.each(faultCodes)('a fault with the code %s keeps its code, message and detail on the wire', code => {
    const fault = new Fault(code, 'What happened.', { id: 'x' })
    expect(fault.status).toBe(statuses[code])
    expect(FaultBody.parse(JSON.parse(JSON.stringify(fault)))).toEqual({
      error: { code, message: 'What happened.', detail: { id: 'x' } },
    })
    expect(JSON.stringify(new Fault(code, 'm'))).not.toContain('detail')
  })
  it('a fault from a failed parse names the invalid fields', () => {
    const parsed = contract.openRequest.input.safeParse({ id: 'x', key: '', ask: { kind: 'poll' } })
    const fault = faultFromZod(parsed.error as NonNullable<typeof parsed.error>, 'openRequest') // the parse has failed
    expect(fault.code).toBe('bad_input')
    for (const field of ['id: must be ses_', 'key:', 'ask.kind: kind must be approval'])
      expect(fault.message).toContain(field)
  })
})
