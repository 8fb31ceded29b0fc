/** The routes of the page. The current screen is stored in the URL's hash, so that it can be bookmarked, shared and reached with the back button. */
import { isId, type RequestId, type SessionId } from '@holdpoint/protocol'
import { useSyncExternalStore } from 'react'

export type Route =
  /** If `request` is set, the inbox opens that request. The links in notifications set `request`. If `review` is set, a narrow screen shows the selected requests. */
  | { readonly screen: 'inbox'; readonly request?: RequestId; readonly review?: true }
  | { readonly screen: 'sessions' }
  | { readonly screen: 'session'; readonly id: SessionId }
  | { readonly screen: 'audit' }
  | { readonly screen: 'rules' }
  | { readonly screen: 'settings' }
  /** The address belongs to no screen. */
  | { readonly screen: 'unknown' }

const simpleScreens = ['sessions', 'audit', 'rules', 'settings'] as const

export function readRoute(hash: string): Route {
  const [, screen = '', id = ''] = /^#\/([\w-]*)(?:\/([\w-]+))?/.exec(hash) ?? []
  if (screen === 'sessions' && isId('ses', id)) return { screen: 'session', id }
  const known = simpleScreens.find(name => name === screen)
  if (known && id === '') return { screen: known }
  if (screen === 'inbox' && id === 'review') return { screen, review: true }
  if (screen === 'inbox' && isId('req', id)) return { screen, request: id }
  return { screen: ['', 'inbox'].includes(screen) && id === '' ? 'inbox' : 'unknown' }
}

export function href(route: Route): string {
  if (route.screen === 'inbox')
    return route.review ? '#/inbox/review' : route.request ? `#/inbox/${route.request}` : '#/'
  if (route.screen === 'unknown') return '#/'
  return route.screen === 'session' ? `#/sessions/${route.id}` : `#/${route.screen}`
}

export function go(route: Route): void {
  location.hash = href(route)
}

/** Shows another route without adding an entry to the browser's history. */
export function replaceRoute(route: Route): void {
  history.replaceState(history.state, '', href(route))
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The state of a history entry that the person opened from the list. */
const fromList = 'from list'

/** Opens a request or the selected requests over the list, so that the browser's back button returns to the list. */
export function openFromList(what: { readonly request: RequestId } | { readonly review: true }): void {
  history.pushState(fromList, '', href({ screen: 'inbox', ...what }))
  dispatchEvent(new HashChangeEvent('hashchange'))
}

export function backToList(): void {
  if (history.state === fromList) history.back()
  else replaceRoute({ screen: 'inbox' })
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  return readRoute(useSyncExternalStore(subscribe, () => location.hash))
}
