/** The list of `holdpoint tui`: which item is selected, and which items the filter leaves. */
import { actionLabel, type InboxSnapshot, riskLabel, stateLabel, summaryText } from '@holdpoint/client'
import { emptyTextInput, handleTextKey, type TextInput } from '../prompt/text-input.ts'
import type { Key } from '../terminal/key-parser.ts'
import { groupsOf, itemsOf, type ListGroup, type ListItem } from './session-list.ts'

export class ListState {
  readonly #inbox: () => InboxSnapshot
  #selected: string | null = null
  #selectedIndex = 0
  #filter: TextInput = emptyTextInput
  #isFiltering = false
  /** The filtered groups, until the inbox or the filter changes. */
  #cache: {
    readonly all: readonly ListGroup[]
    readonly filter: string
    readonly groups: readonly ListGroup[]
  } | null = null

  constructor(inbox: () => InboxSnapshot) {
    this.#inbox = inbox
  }

  get selected(): string | null {
    return this.#selected
  }
  get selectedItem(): ListItem | undefined {
    return this.#items().find(({ id }) => id === this.#selected)
  }
  get filter(): TextInput {
    return this.#filter
  }
  /** Whether the keys go to the filter. */
  get isFiltering(): boolean {
    return this.#isFiltering
  }
  get groups(): readonly ListGroup[] {
    const all = groupsOf(this.#inbox())
    const filter = this.#filter.text.trim().toLowerCase()
    if (filter === '') return all
    if (this.#cache?.all !== all || this.#cache.filter !== filter)
      this.#cache = { all, filter, groups: filteredGroups(all, filter.split(/\s+/)) }
    return this.#cache.groups
  }
  #items(): readonly ListItem[] {
    return itemsOf(this.groups)
  }

  select(id: string): void {
    this.#selected = id
  }
  move(by: number): void {
    const items = this.#items()
    this.#selected = items[Math.max(0, Math.min(items.length - 1, this.#selectedIndex + by))]?.id ?? null
  }
  /** If the selected item has disappeared, selects the item that is now at its position. */
  sync(): void {
    const items = this.#items()
    const index = items.findIndex(({ id }) => id === this.#selected)
    if (index >= 0) this.#selectedIndex = index
    else this.#selected = items[Math.min(this.#selectedIndex, items.length - 1)]?.id ?? null
  }

  startFilter(): void {
    this.#isFiltering = true
  }
  /** Shows all items again. Returns whether a filter was set. */
  clearFilter(): boolean {
    const wasSet = this.#filter.text !== ''
    this.#filter = emptyTextInput
    this.#isFiltering = false
    return wasSet
  }
  /** Handles a key while the person types a filter: Enter or Tab keeps the filter, Escape removes it, and the arrow keys still move in the list. */
  handleFilterKey(key: Key): void {
    if (key.name === 'escape') this.clearFilter()
    else if (key.name === 'enter' || key.name === 'tab') this.#isFiltering = false
    else if (key.name === 'up' || key.name === 'down') this.move(key.name === 'up' ? -1 : 1)
    else this.#filter = handleTextKey(this.#filter, key) ?? this.#filter
  }
}

function filteredGroups(groups: readonly ListGroup[], words: readonly string[]): readonly ListGroup[] {
  return groups
    .map(({ title, items }) => ({
      title,
      items: items.filter(item => {
        const text = searchText(item)
        return words.every(word => text.includes(word))
      }),
    }))
    .filter(({ items }) => items.length > 0)
}
function searchText(item: ListItem): string {
  const { session } = item
  const about = session ? [session.title, session.driver, session.cwd, stateLabel(session)] : []
  const asked =
    item.kind === 'session'
      ? []
      : [
          summaryText(item.request.ask),
          actionLabel(item.request.ask),
          item.request.risk ? riskLabel(item.request.risk) : '',
          item.id,
        ]
  return [...asked, ...about].join('\n').toLowerCase()
}
