/** The secret that this page sends with its sign-in cookie. Browsers send the cookie to every port of a host but keep this storage for one origin, so a server on another port never gets both. */

const key = 'holdpoint.pageSecret'
/** The secret of this tab, in case localStorage is blocked. */
let ownSecret: string | null = null

/** Reads the storage at every call, because another tab may have signed in or out. */
export function readPageSecret(): string | null {
  try {
    return localStorage.getItem(key) ?? ownSecret
  } catch {
    return ownSecret
  }
}

export function writePageSecret(secret: string): void {
  ownSecret = secret
  try {
    localStorage.setItem(key, secret)
  } catch {
    // localStorage is blocked, so the sign-in lasts until the page closes.
  }
}

export function removePageSecret(): void {
  ownSecret = null
  try {
    localStorage.removeItem(key)
  } catch {
    // localStorage is blocked, so there is nothing to remove.
  }
}
