/** Formats times in the browser's locale and time zone. */

export function clockTime(at: number, now = Date.now()): string {
  const time = new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString()
  return sameDay ? time : `${new Date(at).toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`
}

export function dateTime(at: number): string {
  return new Date(at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium' })
}

/** Returns the day, with the year only if it is not the current one. */
export function shortDate(at: number, now = Date.now()): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Date(at).toLocaleDateString([], {
    month: 'short',
    day: 'numeric',
    ...(!isThisYear && { year: 'numeric' }),
  })
}
