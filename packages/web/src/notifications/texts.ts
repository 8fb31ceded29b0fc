/** Texts of the browser notifications. */

export const unknownSession = 'An agent'

export function manyRequests(count: number, dangerous: number): string {
  return `${count} requests waiting${dangerous > 0 ? `, ${dangerous} dangerous` : ''}`
}
