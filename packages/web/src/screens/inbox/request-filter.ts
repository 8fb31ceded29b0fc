/** The filter of the inbox: the kind of the request, its risk, and a text in its content, its session or its folder. */
import { isDangerous, sessionName } from '@holdpoint/client'
import { type Ask, actionOf, type Request, type Session } from '@holdpoint/protocol'

export const filterKinds = ['all', 'dangerous', 'questions', 'commands', 'files', 'plans', 'other'] as const
export type FilterKind = (typeof filterKinds)[number]

/** Returns whether a request is of a kind. A dangerous request is also of the kind of its content. */
export function isOfKind(request: Pick<Request, 'ask' | 'risk'>, kind: FilterKind): boolean {
  if (kind === 'all') return true
  return kind === 'dangerous' ? isDangerous(request) : kindOf(request.ask) === kind
}

function kindOf(ask: Ask): FilterKind {
  if (ask.kind !== 'approval') return 'questions'
  if (ask.plan !== undefined) return 'plans'
  const action = actionOf(ask)
  if ('shell' in action) return 'commands'
  return 'write' in action || 'read' in action || typeof ask.input.file_path === 'string' ? 'files' : 'other'
}

export function countKinds(requests: readonly Pick<Request, 'ask' | 'risk'>[]): ReadonlyMap<FilterKind, number> {
  return new Map(filterKinds.map(kind => [kind, requests.filter(request => isOfKind(request, kind)).length]))
}

/** Returns whether the content of a request, its session or its folder contains every word of the search. */
export function matchesSearch(request: Pick<Request, 'ask'>, session: Session | undefined, search: string): boolean {
  const words = search.toLowerCase().split(' ').filter(Boolean)
  if (words.length === 0) return true
  const text = `${textOf(request.ask)}\n${session ? `${sessionName(session)}\n${session.cwd}` : ''}`.toLowerCase()
  return words.every(word => text.includes(word))
}

/** Only the start of a very long text is searched, so that the list reacts while the person types. */
const searchedMax = 20_000

function searchable(text: string): string {
  return text.slice(0, searchedMax)
}

/** Returns everything in which a person may search: the command and other values, the questions and their options, or the form. */
function textOf(ask: Ask): string {
  switch (ask.kind) {
    case 'questions':
      return ask.questions
        .flatMap(({ header, question, options }) => [header, question, ...options.map(({ label }) => label)])
        .join('\n')
    case 'form':
      return `${ask.title}\n${ask.message}`
    case 'approval': {
      const values = Object.values(ask.input).map(value =>
        searchable(typeof value === 'string' ? value : JSON.stringify(value)),
      )
      return [ask.tool, ask.title, ask.cwd, ...values].join('\n')
    }
  }
}
