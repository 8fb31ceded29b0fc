/** Shows the number of pending requests in the page's title, on its tab icon and on the installed app's badge. */
import { useEffect } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'
import { useWaitingCount } from '../storage/muted-sessions.ts'

export function pageTitle(pendingCount: number, live: boolean): string {
  if (!live) return '… Holdpoint'
  return pendingCount > 0 ? `(${pendingCount}) Holdpoint` : 'Holdpoint'
}

/** Returns the count for the tab icon, which has room for two digits. */
export function badgeText(pendingCount: number): string {
  return pendingCount > 99 ? '99' : String(pendingCount)
}

export function useTitleBadge(): void {
  const pendingCount = useWaitingCount()
  // Before the first connection, no count can be out of date, so only a lost connection counts as not live.
  const live = useInboxPart(snapshot => snapshot.status !== 'reconnecting')
  useEffect(() => {
    document.title = pageTitle(pendingCount, live)
    void drawIcon(live ? pendingCount : 0)
    // Only installed apps have a badge. In a browser tab this call fails, which is harmless.
    void navigator.setAppBadge?.(pendingCount).catch(() => {})
  }, [pendingCount, live])
}

const iconSize = 64
let favicon: Promise<HTMLImageElement> | null = null
let latestDraw = 0

async function drawIcon(pendingCount: number): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!link) return
  const draw = ++latestDraw
  if (pendingCount === 0) {
    link.href = '/favicon.svg'
    return
  }
  favicon ??= loadFavicon()
  const image = await favicon
  if (draw !== latestDraw) return
  link.href = drawBadge(image, badgeText(pendingCount)) ?? '/favicon.svg'
}

async function loadFavicon(): Promise<HTMLImageElement> {
  const image = new Image(iconSize, iconSize)
  image.src = '/favicon.svg'
  // If the icon cannot be loaded, only the badge is drawn.
  await image.decode().catch(() => {})
  return image
}

function drawBadge(image: HTMLImageElement, count: string): string | null {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = iconSize
  const context = canvas.getContext('2d')
  if (!context) return null
  const styles = getComputedStyle(document.documentElement)
  if (image.naturalWidth > 0) context.drawImage(image, 0, 0, iconSize, iconSize)
  const [x, y, radius] = [42, 42, 22]
  context.fillStyle = styles.getPropertyValue('--badge')
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fill()
  context.fillStyle = styles.getPropertyValue('--badge-text')
  context.font = `600 ${count.length > 1 ? 28 : 34}px ${styles.getPropertyValue('--sans')}`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(count, x, y + 2)
  return canvas.toDataURL('image/png')
}
