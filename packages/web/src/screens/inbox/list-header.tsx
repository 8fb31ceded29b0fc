/** The head of the list: how many requests wait, a search, the grouping, and filters by kind. */
import type { ReactNode } from 'react'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { preventTypeAhead } from '../../shortcuts/type-ahead.ts'
import { writePreference } from '../../storage/preferences.ts'
import { NewItemsButton } from '../../ui/new-items-button.tsx'
import { commonTexts } from '../texts.ts'
import { type FilterKind, filterKinds } from './request-filter.ts'
import { groupings } from './request-groups.ts'
import { filterTexts, inboxTitle, mutedTitle } from './texts.ts'
import type { InboxView } from './use-inbox-view.ts'
import './list-header.css'

/** The longest text that a person may search for. */
const searchMax = 200

/** New requests that the person may not have noticed. */
export interface UnnoticedRequests {
  readonly count: number
  readonly show: () => void
}

export interface ListHeaderProps {
  readonly view: InboxView
  readonly waiting: number
  readonly showNew: UnnoticedRequests
  /** Called when the person presses Enter in the search field. */
  readonly onFound: () => void
}

export function ListHeader({ view, waiting, showNew, onFound }: ListHeaderProps): ReactNode {
  const muted = view.muted.length
  return (
    <header className="list-header">
      <div className="list-title">
        <h1>{inboxTitle(waiting)}</h1>
        {muted > 0 && <span className="soft small">{mutedTitle(muted)}</span>}
        <NewItemsButton count={showNew.count} label={commonTexts.newItems} onShow={showNew.show} />
      </div>
      <div className="list-tools">
        <SearchField
          label={filterTexts.search}
          value={view.search}
          maxLength={searchMax}
          onChange={view.setSearch}
          onEnter={onFound}
        />
        <select
          className="input grouping"
          aria-label={filterTexts.grouping}
          value={view.grouping}
          onKeyDown={preventTypeAhead}
          onChange={event => writePreference('grouping', event.target.value)}
        >
          {groupings.map(grouping => (
            <option key={grouping} value={grouping}>
              {filterTexts.groupBy[grouping]}
            </option>
          ))}
        </select>
      </div>
      <KindFilter {...view} />
    </header>
  )
}

/** A row of kinds. A kind without requests is left out, unless it is chosen. */
function KindFilter({ kind, setKind, counts }: Pick<InboxView, 'kind' | 'setKind' | 'counts'>): ReactNode {
  const countOf = (each: FilterKind) => counts.get(each) ?? 0
  const offered = filterKinds.filter(each => each === 'all' || each === kind || countOf(each) > 0)
  return (
    <fieldset className="kind-filter fades-at-end">
      <legend className="visually-hidden">{filterTexts.kinds}</legend>
      {offered.map(each => (
        <label key={each} className={`kind-choice ${each}`}>
          <input
            type="radio"
            className="visually-hidden"
            name="kind"
            checked={each === kind}
            onChange={() => setKind(each)}
          />
          {filterTexts.kind[each]} <span className="kind-count">{countOf(each)}</span>
        </label>
      ))}
    </fieldset>
  )
}
