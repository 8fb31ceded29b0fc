/** The keys that act on a card, for the keyboard handler, the key hints on buttons, and the help. */
export const cardKeys = { allow: 'a', deny: 'd', edit: 'e', comment: 'c' } as const

/** The key that selects the requests that are like the active one. */
export const similarKey = 's'
