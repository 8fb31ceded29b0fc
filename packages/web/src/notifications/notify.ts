/** Notifies the person about new requests with a browser notification and a chime. One tab notifies for all tabs, and only while no tab is visible. */
import type { Inbox } from '@holdpoint/client'
import type { Request, RequestId } from '@holdpoint/protocol'
import { useEffect } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { go } from '../routes.ts'
import { readMuted } from '../storage/muted-sessions.ts'
import { readPreference } from '../storage/preferences.ts'
import { playChime } from './chime.ts'
import { composeNotification, type RequestNotification, summaryTag } from './compose-notification.ts'
import { NewRequests } from './new-requests.ts'
import { anyTabVisible, electLeaderTab, trackTabVisibility } from './tab-presence.ts'

/** Requests that arrive within this time share one notification. */
const batchMs = 400

export function canNotify(): boolean {
  return 'Notification' in globalThis && window.isSecureContext
}

export function useNotifications(): void {
  const { inbox } = useGateway()
  useEffect(() => {
    const ended = new AbortController()
    trackTabVisibility(ended.signal)
    electLeaderTab(ended.signal, () => notifyAboutNewRequests(inbox, ended.signal))
    return () => ended.abort()
  }, [inbox])
}

function notifyAboutNewRequests(inbox: Inbox, signal: AbortSignal): void {
  const newRequests = new NewRequests()
  const unannounced = new Set<RequestId>()
  let pending: readonly RequestId[] = []
  let flushScheduled = false
  const onInboxChange = () => {
    const snapshot = inbox.getSnapshot()
    for (const id of newRequests.update(snapshot)) unannounced.add(id)
    if (unannounced.size > 0 && !flushScheduled) setTimeout(() => void flush(), batchMs)
    flushScheduled = unannounced.size > 0
    const stillPending = new Set<string>(snapshot.order)
    if (pending.some(id => !stillPending.has(id)))
      void dismissNotifications(tag => (tag === summaryTag ? stillPending.size === 0 : !stillPending.has(tag)))
    pending = snapshot.order
  }
  const flush = async () => {
    flushScheduled = false
    const snapshot = inbox.getSnapshot()
    const requests = [...unannounced]
      .flatMap(id => snapshot.requests.get(id) ?? [])
      .filter(isPending)
      .filter(isHeard)
    unannounced.clear()
    const notification = composeNotification(requests, snapshot)
    if (!notification || (await anyTabVisible()) || signal.aborted) return
    if (readPreference('sound') === 'on') playChime()
    await showNotification(notification)
  }
  const dismissWhenVisible = () => document.visibilityState === 'visible' && void dismissNotifications(() => true)
  document.addEventListener('visibilitychange', dismissWhenVisible, { signal })
  signal.addEventListener('abort', inbox.subscribe(onInboxChange))
  onInboxChange()
}

function isHeard({ session }: Request): boolean {
  return !readMuted().has(session)
}
function isPending({ status }: Request): boolean {
  return status === 'pending'
}

/** Notifications that the page has shown without a service worker. */
const pageNotifications = new Set<Notification>()

async function showNotification({ tag, title, body, request }: RequestNotification): Promise<void> {
  if (!canNotify() || Notification.permission !== 'granted' || readPreference('notifications') === 'off') return
  const options = { tag, body, icon: '/icon-192.png', badge: '/icon-192.png', data: { request }, silent: true }
  const worker = await findServiceWorker()
  if (worker?.active) return worker.showNotification(title, options)
  const notification = new Notification(title, options)
  notification.onclick = () => {
    window.focus()
    openRequest(request)
    notification.close()
  }
  pageNotifications.add(notification)
}

/** Closes notifications whose requests were answered or are now visible, including notifications that another tab has shown. */
async function dismissNotifications(matches: (tag: string) => boolean): Promise<void> {
  const shown = await (await findServiceWorker())?.getNotifications()
  for (const notification of [...pageNotifications, ...(shown ?? [])])
    if (matches(notification.tag)) {
      notification.close()
      pageNotifications.delete(notification)
    }
}

/** Returns undefined if the browser has no service worker or denies access to it. */
async function findServiceWorker(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker?.getRegistration().catch(() => undefined)
}

export function openRequest(request: RequestId | null): void {
  go(request ? { screen: 'inbox', request } : { screen: 'inbox' })
}
