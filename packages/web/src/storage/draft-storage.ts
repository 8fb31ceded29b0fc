/** Where a tab keeps drafts of its own. */
import type { DraftStorage } from '@holdpoint/client'

/** Read when it is needed: a browser may refuse even to name it. */
export const draftStorage: DraftStorage = {
  getItem: key => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
  removeItem: key => sessionStorage.removeItem(key),
}
