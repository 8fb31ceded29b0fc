/** Stores the answer drafts of this tab in sessionStorage. */
import type { DraftStorage } from '@holdpoint/client'

/** Accesses sessionStorage lazily, because reading the global throws if the browser blocks storage. */
export const draftStorage: DraftStorage = {
  getItem: key => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
  removeItem: key => sessionStorage.removeItem(key),
}
