import type { Ask, Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { countKinds, isOfKind, matchesSearch } from '../../src/screens/inbox/request-filter.ts'
import { groupKey, inGroups, readGrouping } from '../../src/screens/inbox/request-groups.ts'
import { programOf, similarTo } from '../../src/screens/inbox/similar-requests.ts'

const approval = { kind: 'approval', cwd: '/src/api', editable: true, title: 'Do it' } as const
const command = (text: string, cwd = '/src/api'): Ask => ({ ...approval, cwd, tool: 'Bash', input: { command: text } })
const question: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: 'Color',
      question: 'Which color?',
      options: [{ label: 'Teal' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}
const write: Ask = { ...approval, tool: 'Write', input: { file_path: '/src/api/a.ts', content: 'x' } }
const plan: Ask = { ...approval, tool: 'ExitPlanMode', plan: '1. Read', input: { plan: '1. Read' } }
let count = 0
const pending = (ask: Ask, more: Partial<Request> = {}): Request =>
  ({ id: `req_${++count}`, session: 'ses_1', ask, status: 'pending', ...more }) as Request // the functions use no other fields

describe('the kinds by which the inbox filters', () => {
  it('the kinds by which the inbox filters are commands, files, plans and questions; a dangerous command belongs to two kinds', () => {
    const dangerous = { ask: command('rm -rf /'), risk: { level: 'dangerous', touches: [] } } as unknown as Request // `isOfKind` needs only these fields
    expect(isOfKind(dangerous, 'dangerous')).toBe(true)
    expect(isOfKind(dangerous, 'commands')).toBe(true)
    const counts = countKinds([dangerous, pending(write), pending(plan), pending(question), pending(command('ls'))])
    expect(Object.fromEntries(counts)).toEqual({
      all: 5,
      dangerous: 1,
      questions: 1,
      commands: 2,
      files: 1,
      plans: 1,
      other: 0,
    })
  })
})

describe('the search of the inbox', () => {
  const session = { title: 'Billing', cwd: '/home/ada/billing', driver: 'external' } as Session // the search reads only these fields

  it.each([
    ['a part of the command', command('npm run migrate'), 'MIGR'],
    ['words in any order', command('npm run migrate'), 'migrate npm'],
    ['the title of the session', command('ls'), 'billing'],
    ['the folder of the session', command('ls'), 'ada/bill'],
    ['an option of a question', question, 'teal'],
    ['the path of a file', write, 'a.ts'],
  ])('the search of the inbox finds %s', (_, ask, search) => {
    expect(matchesSearch({ ask }, session, search)).toBe(true)
  })
  it('the search of the inbox finds nothing if a request lacks one of the words', () => {
    expect(matchesSearch({ ask: command('npm test') }, session, 'npm build')).toBe(false)
  })
})

describe('groups of the inbox', () => {
  const sessions = new Map([['ses_1' as SessionId, { cwd: '/src/api' }]])

  it('groups of the inbox have the session or the folder of the session as their key, and the folder of the ask if the session is unknown', () => {
    expect(groupKey(pending(command('ls')), 'session', sessions)).toBe('ses_1')
    expect(groupKey(pending(command('ls', '/tmp')), 'project', sessions)).toBe('/src/api')
    expect(groupKey(pending(command('ls', '/tmp'), { session: 'ses_2' as SessionId }), 'project', sessions)).toBe(
      '/tmp',
    )
  })
  it('groups of the inbox are in the order of their most urgent requests', () => {
    const ids = ['b1', 'a1', 'b2', 'a2'] as unknown as RequestId[] // the order does not depend on the format of the ids
    expect(inGroups(ids, id => id.slice(0, 1))).toEqual(['b1', 'b2', 'a1', 'a2'])
  })
  it('the inbox is not grouped if the stored preference is unknown', () => {
    expect([null, 'planet', 'session'].map(readGrouping)).toEqual(['none', 'none', 'session'])
  })
})

describe('similar requests', () => {
  it.each([
    ['npm test', 'npm'],
    ['  CI=1 NODE_ENV=test  npm test', 'npm'],
    ['./run.sh --fast', './run.sh'],
    ['', ''],
  ])('programOf returns for the command %j the program %j', (text, program) => {
    expect(programOf(text)).toBe(program)
  })
  it('similar requests run the same program in the same folder and are pending', () => {
    const [first, same, elsewhere, other, answered, asked] = [
      pending(command('npm test')),
      pending(command('CI=1 npm run lint')),
      pending(command('npm test', '/src/docs')),
      pending(command('git status')),
      pending(command('npm ci'), { status: 'resolved' }),
      pending(question),
    ]
    const all = [first, same, elsewhere, other, answered, asked].filter(each => each !== undefined)
    const requests = new Map(all.map(request => [request.id, request]))
    const ids = all.map(({ id }) => id)
    if (!first || !asked) throw new Error('the list above has six requests')
    expect(similarTo(first, ids, requests)).toEqual([same])
    expect(similarTo(asked, ids, requests)).toEqual([])
  })
})
