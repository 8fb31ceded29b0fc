/** The items of the command palette: actions, screens, pending requests and sessions, filtered by the typed words. */
import { type AskSummary, actionLabel, sessionName, singleLine, stateLabel, summary } from '@holdpoint/client'
import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import type { May } from '../../gateway/gateway-context.ts'
import { groupNames, groupOf, newestFirst } from '../../gateway/session-groups.ts'
import { type Theme, themes } from '../../storage/theme.ts'
import { type Grouping, groupings } from '../inbox/request-groups.ts'
import { type NavItem, navItems } from './sidebar.tsx'
import { paletteTexts } from './texts.ts'

interface ItemText {
  readonly id: string
  /** Names and hints are not escaped. */
  readonly name: string
  readonly hint: string
}
/** Actions that the palette offers besides going somewhere. */
export type PaletteAction =
  | keyof typeof paletteTexts.actions
  | { readonly onScreen: keyof typeof paletteTexts.onScreen }
  | { readonly here: keyof typeof paletteTexts.here }
  | { readonly flip: SwitchName }
  | { readonly mute: boolean }
  | { readonly grouping: Grouping }
  | { readonly theme: Theme }
  | { readonly shortcut: SessionShortcut }
/** Shortcuts of the session screen that the palette offers too. */
export type SessionShortcut = keyof typeof paletteTexts.session
export type PaletteItem = ItemText &
  (
    | { readonly kind: 'action'; readonly action: PaletteAction }
    | { readonly kind: 'screen'; readonly screen: NavItem['screen'] }
    | { readonly kind: 'request'; readonly request: RequestId; readonly summary: AskSummary }
    | { readonly kind: 'session'; readonly session: SessionId }
  )

export interface PaletteContent {
  readonly sessions: ReadonlyMap<SessionId, Session>
  readonly requests: ReadonlyMap<RequestId, Request>
  readonly may: May
  /** True on the session screen. */
  readonly isSession: boolean
  /** Whether the session on the screen is muted; null on other screens. */
  readonly isMuted: boolean | null
  /** Whether what the person can turn on is on; null if it cannot be turned on here. */
  readonly switches: Readonly<Record<SwitchName, boolean | null>>
  /** Returns whether the current screen offers an action. */
  readonly has: (action: keyof typeof paletteTexts.here) => boolean
}
export type SwitchName = keyof typeof paletteTexts.switches

const shownMax = 12

export function findItems(query: string, content: PaletteContent): readonly PaletteItem[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const actions = [...hereItems(content), ...actionItems(content), ...(content.isSession ? shortcutItems() : [])]
  // Before anything is typed, sessions are more useful than rare actions.
  const all =
    words.length === 0
      ? [...screenItems(), ...actionItems(content).slice(0, 1), ...sessionItems(content)]
      : [...screenItems(), ...actions, ...sessionItems(content), ...requestItems(content)]
  const matches = ({ name, hint }: PaletteItem) => words.every(word => `${name} ${hint}`.toLowerCase().includes(word))
  return all.filter(matches).slice(0, shownMax)
}

function screenItems(): readonly PaletteItem[] {
  const { screen: hint } = paletteTexts.hints
  return navItems.map(({ screen, name }) => ({ kind: 'screen', id: screen, name, hint, screen }))
}

function actionItems({ may, switches }: PaletteContent): readonly PaletteItem[] {
  const { actions, theme, hints } = paletteTexts
  const simple = keysOf(actions)
    .filter(name => name !== 'stop' || may('stopEverything'))
    .map(name => ({ id: name, name: actions[name], action: name }))
  const onScreens = keysOf(paletteTexts.onScreen).map(onScreen => ({
    ...{ id: onScreen, name: paletteTexts.onScreen[onScreen], action: { onScreen } },
  }))
  const flips = keysOf(switches).flatMap(flip => {
    const on = switches[flip]
    return on === null ? [] : [{ id: flip, name: paletteTexts.switches[flip][`${on}`], action: { flip } }]
  })
  const toGroupings = groupings.map(grouping => ({
    ...{ id: `group-${grouping}`, name: paletteTexts.grouping[grouping], action: { grouping } },
  }))
  const toThemes = themes.map(value => ({ id: `theme-${value}`, name: theme(value), action: { theme: value } }))
  const all = [...simple, ...onScreens, ...flips, ...toGroupings, ...toThemes]
  return all.map(item => ({ ...item, kind: 'action' as const, hint: hints.action }))
}

/** Returns the actions of what is on the screen. */
function hereItems({ has, isMuted }: PaletteContent): readonly PaletteItem[] {
  const { here, mute, hints } = paletteTexts
  const offered = keysOf(here)
    .filter(has)
    .map(name => ({ id: name, name: here[name], action: { here: name } }))
  const muting = isMuted === null ? [] : [{ id: 'mute', name: mute[`${isMuted}`], action: { mute: !isMuted } }]
  return [...offered, ...muting].map(item => ({ ...item, kind: 'action' as const, hint: hints.session }))
}

/** Returns the keys of a constant. */
function keysOf<Key extends string>(constant: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(constant) as Key[] // a constant has no other keys
}

function shortcutItems(): readonly PaletteItem[] {
  const { session, hints } = paletteTexts
  return keysOf(session).map(shortcut => ({
    kind: 'action',
    id: shortcut,
    name: session[shortcut],
    hint: hints.session,
    action: { shortcut },
  }))
}

function sessionItems({ sessions }: PaletteContent): readonly PaletteItem[] {
  const rank = (session: Session) => groupNames.indexOf(session.state === 'ended' ? 'ended' : groupOf(session))
  return [...sessions.values()]
    .sort((a, b) => rank(a) - rank(b) || newestFirst(a, b))
    .map(session => ({
      kind: 'session',
      id: session.id,
      name: sessionName(session),
      hint: `${stateLabel(session)} · ${session.cwd}`,
      session: session.id,
    }))
}

function requestItems({ requests, sessions }: PaletteContent): readonly PaletteItem[] {
  return [...requests.values()]
    .filter(({ status }) => status === 'pending')
    .map(({ id, ask, session }) => {
      const short = summary(ask)
      const from = sessions.get(session)
      const hint = [actionLabel(ask), ...(from ? [sessionName(from)] : [])].join(' · ')
      return { kind: 'request', id, name: singleLine(short.head + short.tail), hint, request: id, summary: short }
    })
}
