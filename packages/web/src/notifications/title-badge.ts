/** What waits, where one sees it without looking at the page: in the title, on the tab's picture, on the app's badge. */
import { useEffect } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'

export function titleOf(waiting: number, live: boolean): string {
  if (!live) return '… Holdpoint'
  return waiting > 0 ? `(${waiting}) Holdpoint` : 'Holdpoint'
}

/** Two figures are as much as a tab's picture holds. */
export function badgeOf(waiting: number): string {
  return waiting > 99 ? '99' : String(waiting)
}

export function useTitleBadge(): void {
  const waiting = useInboxPart(snapshot => snapshot.pendingCount)
  // Before the first word of the gateway nothing is old yet.
  const live = useInboxPart(snapshot => snapshot.status !== 'reconnecting')
  useEffect(() => {
    document.title = titleOf(waiting, live)
    void drawIcon(live ? waiting : 0)
    // Only an installed page has a badge; where there is none, nothing is lost.
    void navigator.setAppBadge?.(waiting).catch(() => {})
  }, [waiting, live])
}

const size = 64
let picture: Promise<HTMLImageElement> | null = null
let turn = 0

async function drawIcon(waiting: number): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!link) return
  const mine = ++turn
  if (waiting === 0) {
    link.href = '/favicon.svg'
    return
  }
  picture ??= loadPicture()
  const drawn = await picture
  if (mine !== turn) return
  link.href = drawBadge(drawn, badgeOf(waiting)) ?? '/favicon.svg'
}

async function loadPicture(): Promise<HTMLImageElement> {
  const image = new Image(size, size)
  image.src = '/favicon.svg'
  await image.decode().catch(() => {})
  return image
}

function drawBadge(image: HTMLImageElement, count: string): string | null {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size
  const pen = canvas.getContext('2d')
  if (!pen) return null
  const colours = getComputedStyle(document.documentElement)
  if (image.naturalWidth > 0) pen.drawImage(image, 0, 0, size, size)
  const [x, y, radius] = [42, 42, 22]
  pen.fillStyle = colours.getPropertyValue('--badge')
  pen.beginPath()
  pen.arc(x, y, radius, 0, 2 * Math.PI)
  pen.fill()
  pen.fillStyle = colours.getPropertyValue('--badge-ink')
  pen.font = `600 ${count.length > 1 ? 28 : 34}px ${colours.getPropertyValue('--sans')}`
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillText(count, x, y + 2)
  return canvas.toDataURL('image/png')
}
