/** Answer drafts of this tab, in sessionStorage. */
import type { DraftStorage } from '@holdpoint/client'

/** Accesses sessionStorage lazily: with storage blocked, even reading the global throws. */
export const draftStorage: DraftStorage = {
  getItem: key => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
  removeItem: key => sessionStorage.removeItem(key),
}
