/* The service worker. It shows an offline page while the gateway is unreachable, and opens the request when its notification is clicked. It never caches API responses. */
const cacheName = 'holdpoint-offline-1'
const offlineFiles = ['/offline.html', '/offline.css', '/favicon.svg']

self.addEventListener('install', event => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then(cache => cache.addAll(offlineFiles.map(path => new Request(path, { cache: 'reload' }))))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', event => {
  event.waitUntil(
    caches
      .keys()
      .then(names => Promise.all(names.filter(name => name !== cacheName).map(name => caches.delete(name))))
      .then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', event => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match('/offline.html')))
  else if (offlineFiles.includes(pathname)) event.respondWith(fetch(request).catch(() => caches.match(pathname)))
})

self.addEventListener('notificationclick', event => {
  event.notification.close()
  const open = event.notification.data?.request ?? null
  event.waitUntil(
    self.clients.matchAll({ type: 'window', includeUncontrolled: true }).then(async pages => {
      const page = pages.find(each => each.visibilityState === 'visible') ?? pages[0]
      if (!page) return self.clients.openWindow(open ? `/#/inbox/${open}` : '/')
      page.postMessage({ open })
      return page.focus()
    }),
  )
})
