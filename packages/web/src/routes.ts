/** The routes of the page. The current screen is stored in the URL's hash, so that it can be bookmarked, shared and reached with the back button. */
import { RequestId, SessionId } from '@holdpoint/protocol'
import { useSyncExternalStore } from 'react'

export type Route =
  /** If `request` is set, the inbox scrolls to that request. The links in notifications set `request`. */
  | { readonly screen: 'inbox'; readonly request?: RequestId }
  | { readonly screen: 'sessions' }
  | { readonly screen: 'session'; readonly id: SessionId }
  | { readonly screen: 'audit' }
  | { readonly screen: 'rules' }
  | { readonly screen: 'settings' }
  /** The address leads nowhere. */
  | { readonly screen: 'unknown' }

const simpleScreens = ['sessions', 'audit', 'rules', 'settings'] as const

export function readRoute(hash: string): Route {
  const [, screen = '', id = ''] = /^#\/([\w-]*)(?:\/([\w-]+))?/.exec(hash) ?? []
  const session = SessionId.safeParse(id)
  if (screen === 'sessions' && session.success) return { screen: 'session', id: session.data }
  const known = simpleScreens.find(name => name === screen)
  if (known && id === '') return { screen: known }
  const request = RequestId.safeParse(id)
  if (screen === 'inbox' && request.success) return { screen: 'inbox', request: request.data }
  return { screen: ['', 'inbox'].includes(screen) && id === '' ? 'inbox' : 'unknown' }
}

export function href(route: Route): string {
  if (route.screen === 'inbox') return route.request ? `#/inbox/${route.request}` : '#/'
  if (route.screen === 'unknown') return '#/'
  return route.screen === 'session' ? `#/sessions/${route.id}` : `#/${route.screen}`
}

export function go(route: Route): void {
  location.hash = href(route)
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  return readRoute(useSyncExternalStore(subscribe, () => location.hash))
}
