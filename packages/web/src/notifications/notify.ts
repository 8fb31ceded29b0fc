/** Tells a person who does not look: a notification or a tone, by one tab for all of them, and never while the page is in view. */
import type { Inbox } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import { useEffect } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { go } from '../routes.ts'
import { readPreference } from '../storage/preferences.ts'
import { playChime } from './chime.ts'
import { manyTag, NewRequests, notificationFor, type RequestNotification } from './new-requests.ts'
import { anyTabVisible, electLeaderTab, trackTabVisibility } from './tab-presence.ts'

/** What comes within this time is told together. */
const gatherMs = 400

export function canNotify(): boolean {
  return 'Notification' in globalThis && window.isSecureContext
}

export function useNotifications(): void {
  const { inbox } = useGateway()
  useEffect(() => {
    const over = new AbortController()
    trackTabVisibility(over.signal)
    electLeaderTab(over.signal, () => speakFor(inbox, over.signal))
    return () => over.abort()
  }, [inbox])
}

function speakFor(inbox: Inbox, signal: AbortSignal): void {
  const news = new NewRequests()
  const fresh = new Set<RequestId>()
  let waiting: readonly RequestId[] = []
  let gathering = false
  const hear = () => {
    const snapshot = inbox.getSnapshot()
    for (const id of news.take(snapshot)) fresh.add(id)
    if (fresh.size > 0 && !gathering) setTimeout(() => void tell(), gatherMs)
    gathering = fresh.size > 0
    const left = new Set<string>(snapshot.order)
    if (waiting.some(id => !left.has(id))) void dismiss(tag => (tag === manyTag ? left.size === 0 : !left.has(tag)))
    waiting = snapshot.order
  }
  const tell = async () => {
    gathering = false
    const snapshot = inbox.getSnapshot()
    const requests = [...fresh].flatMap(id => snapshot.requests.get(id) ?? []).filter(isPending)
    fresh.clear()
    const notice = notificationFor(requests, snapshot)
    if (!notice || (await anyTabVisible()) || signal.aborted) return
    if (readPreference('sound') === 'on') playChime()
    await show(notice)
  }
  const look = () => document.visibilityState === 'visible' && void dismiss(() => true)
  document.addEventListener('visibilitychange', look, { signal })
  signal.addEventListener('abort', inbox.subscribe(hear))
  hear()
}

function isPending({ status }: Request): boolean {
  return status === 'pending'
}

/** Those that the page shows by itself, where there is no worker. */
const own = new Set<Notification>()

async function show({ tag, title, body, request }: RequestNotification): Promise<void> {
  if (!canNotify() || Notification.permission !== 'granted' || readPreference('notifications') === 'off') return
  const options = { tag, body, icon: '/icon-192.png', badge: '/icon-192.png', data: { request }, silent: true }
  const worker = await findWorker()
  if (worker?.active) return worker.showNotification(title, options)
  const notification = new Notification(title, options)
  notification.onclick = () => {
    window.focus()
    openRequest(request)
    notification.close()
  }
  own.add(notification)
}

/** What somebody has answered meanwhile, or is looking at, asks for attention no more; whichever tab had shown it. */
async function dismiss(which: (tag: string) => boolean): Promise<void> {
  const shown = await (await findWorker())?.getNotifications()
  for (const notification of [...own, ...(shown ?? [])])
    if (which(notification.tag)) {
      notification.close()
      own.delete(notification)
    }
}

async function findWorker(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker?.getRegistration().catch(() => undefined)
}

export function openRequest(request: RequestId | null): void {
  go(request ? { screen: 'inbox', request } : { screen: 'inbox' })
}
