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

const simpleScreens = ['sessions', 'audit', 'rules'] as const

export function readRoute(hash: string): Route {
  const [, screen = '', id = ''] = /^#\/([\w-]*)(?:\/([\w-]+))?/.exec(hash) ?? []
  const session = SessionId.safeParse(id)
  if (screen === 'sessions' && session.success) return { screen: 'session', id: session.data }
  const known = simpleScreens.find(name => name === screen)
  if (known) return { screen: known }
  const request = RequestId.safeParse(id)
  return { screen: 'inbox', ...(screen === 'inbox' && request.success && { request: request.data }) }
}

export function href(route: Route): string {
  if (route.screen === 'inbox') return route.request ? `#/inbox/${route.request}` : '#/'
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
