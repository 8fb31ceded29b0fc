/** Contains the access table as a literal, so that a change of what a role may do fails a test and shows up in a review. */
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  type Ask,
  accessColumns,
  accessOf,
  accessTable,
  answerActions,
  contract,
  Role,
  rolesFor,
} from '../src/index.ts'

/** For each operation and each further action: what nobody (a caller without a credential), the owner, people, runners and agents may do. */
const table = `
                      nobody  owner   person  runner  agent
listDrivers           no      all     all     all     all
checkFolder           no      all     all     no      no
startSession          no      all     all     no      own
startSession.mode     no      all     no      no      no
startSession.options  no      all     no      no      no
listSessions          no      all     all     own     own
getSession            no      all     all     own     own
patchSession          no      all     all     no      no
patchSession.mode     no      all     no      no      no
sendMessage           no      all     all     no      no
addAttachment         no      all     all     no      no
appendAttachment      no      own     own     no      no
getAttachmentPart     no      all     all     own     own
interruptSession      no      all     all     no      no
endSession            no      all     all     no      no
deleteSession         no      all     no      no      no
stopEverything        no      all     no      no      no
listEvents            no      all     all     own     own
subscribe             no      all     all     no      own
listRequests          no      all     all     own     own
getRequest            no      all     all     own     own
answerRequest         no      all     all     no      no
answerRequests        no      all     all     no      no
checkInput            no      all     all     no      no
answer.mode           no      all     no      no      no
answer.settings       no      all     no      no      no
putDraft              no      own     own     no      no
getDraft              no      own     own     no      no
deleteDraft           no      own     own     no      no
openRequest           no      own     own     own     own
appendEvents          no      own     own     own     own
checkTool             no      own     own     own     own
reportMoment          no      own     own     own     own
setAgentVariable      no      all     all     own     own
withdrawRequest       no      own     own     own     own
handOverRequest       no      own     own     own     own
reportDelivery        no      own     own     own     own
attachSession         no      own     own     own     own
detachSession         no      own     own     own     own
renewSession          no      own     own     own     own
listCommands          no      all     all     own     own
takeCommand           no      own     own     own     own
finishCommand         no      own     own     own     own
announceRunner        no      no      no      own     no
renewRunner           no      no      no      own     no
retireRunner          no      all     no      own     no
listWork              no      no      no      own     no
listRunners           no      all     all     own     no
listRules             no      all     all     no      no
addRule               no      all     all     no      no
patchRule             no      all     all     no      no
removeRule            no      all     all     no      no
rule.allow            no      all     no      no      no
rule.others           no      all     no      no      no
previewRule           no      all     all     no      no
proposeRules          no      all     all     no      no
checkRules            no      all     all     no      no
listWatchers          no      all     all     no      no
listVariables         no      all     all     own     own
setVariable           no      all     all     no      no
listAudit             no      all     all     no      no
listTokens            no      all     no      no      no
addToken              no      all     no      no      no
removeToken           no      all     no      no      no
rotateToken           no      all     no      no      no
signIn                all     all     all     all     all
describeLink          all     all     all     all     all
proveGateway          all     all     all     all     all
signOut               no      own     own     no      no
makeLink              no      own     own     no      no
makeLink.person       no      all     no      no      no
whoAmI                no      own     own     own     own
backup                no      all     no      no      no
`

describe('the access table', () => {
  it('A3: the access table gives each role exactly the access that is listed in this file', () => {
    const line = (cells: readonly string[]) =>
      `${cells[0]?.padEnd(22)}${cells
        .slice(1)
        .map(cell => cell.padEnd(8))
        .join('')}`.trimEnd()
    const lines = [
      line(['', ...accessColumns]),
      ...Object.entries(accessTable).map(([action, row]) => line([action, ...row])),
    ]
    expect(`\n${lines.join('\n')}\n`).toBe(table)
  })
  it('the access table has a row for every operation of the contract, and a column for every role', () => {
    expect(Object.keys(accessTable)).toEqual(expect.arrayContaining(Object.keys(contract)))
    expect(accessColumns).toEqual(['nobody', ...Role.options])
  })
  it('the access table lets only people answer (G8)', () => {
    for (const action of Object.keys(accessTable) as (keyof typeof accessTable)[])
      if (action.startsWith('answer'))
        for (const role of ['nobody', 'runner', 'agent'] as const) expect(accessOf(role, action), action).toBe('no')
  })
  it('the access table never gives a person more than the owner', () => {
    for (const [action, [, owner, person]] of Object.entries(accessTable))
      if (person !== 'no') expect(owner, action).not.toBe('no')
  })
  it('the access table gives an unknown role nothing', () => {
    expect(accessOf('intruder' as Role, 'signIn')).toBe('no') // as if a database contained another role
  })
  it('the access table lists the roles that may call an operation', () => {
    expect(rolesFor('answerRequest')).toEqual(['owner', 'person'])
    expect(rolesFor('backup')).toEqual(['owner'])
    expect(rolesFor('signIn')).toContain('nobody')
  })
})

describe('answerActions', () => {
  const suggestions = [
    { id: 's', label: 'For this session', scope: 'session' },
    { id: 'c', label: 'For this process', scope: 'cliArg' },
    { id: 'p', label: 'For this project', scope: 'projectSettings' },
    { id: 'm', label: 'Accept edits', scope: 'session', mode: 'acceptEdits' },
    { id: 'both', label: 'Always', scope: 'userSettings', mode: 'acceptEdits' },
  ]
  const approval: Ask = { kind: 'approval', tool: 'Bash', title: 'ls', input: {}, cwd: '/', editable: true }
  const ask: Ask = { ...approval, suggestions }
  it.each<[string, Answer, readonly string[]]>([
    ['a deny', { kind: 'deny' }, []],
    ['a plain allow', { kind: 'allow' }, []],
    ['an allow with a mode', { kind: 'allow', mode: 'plan' }, ['answer.mode']],
    ['a suggestion for the session', { kind: 'allow', suggestion: 's' }, []],
    ['a suggestion for the process', { kind: 'allow', suggestion: 'c' }, []],
    ['a suggestion for the project', { kind: 'allow', suggestion: 'p' }, ['answer.settings']],
    ['a suggestion that changes the mode', { kind: 'allow', suggestion: 'm' }, ['answer.mode']],
    ['a suggestion that changes both', { kind: 'allow', suggestion: 'both' }, ['answer.mode', 'answer.settings']],
    ['an allow with a rule', { kind: 'allow', remember: { effect: 'allow', command: 'ls' } }, ['rule.allow']],
    ['an unknown suggestion', { kind: 'allow', suggestion: 'x' }, []],
  ])('answerActions returns the further permissions for %s', (_, answer, actions) => {
    expect(answerActions(ask, answer)).toEqual(actions)
  })
  const form: Ask = { kind: 'form', title: 'Token', message: '', schema: { type: 'object', properties: {} } }
  it('answerActions returns no further permissions for asks that are not approvals or have no suggestions', () => {
    expect(answerActions(form, { kind: 'allow', mode: 'plan' })).toEqual([])
    expect(answerActions(approval, { kind: 'allow', suggestion: 'p' })).toEqual([])
    expect(answerActions(approval, { kind: 'allow', mode: 'plan' })).toEqual(['answer.mode'])
  })
})
