/** The Rules screen: all rules with what they say and how often they answered; groups of commands, a form for rules, and a check of a command. */
import type { Rule } from '@holdpoint/protocol'
import { limits } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGatewayTime, useMay } from '../../gateway/gateway-context.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import { SearchField } from '../../shortcuts/search-field.tsx'
import { useShortcuts } from '../../shortcuts/use-shortcuts.ts'
import { SegmentedFilter } from '../../ui/segmented-filter.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useHistoryFilter } from '../../ui/use-history-filter.ts'
import { commonTexts } from '../texts.ts'
import { CheckCommand } from './check-command.tsx'
import { CommandGroups } from './command-groups.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { matchingRules, noRuleFilter, type RuleFilter } from './rule-filter.ts'
import { RuleRow } from './rule-row.tsx'
import { effectChoices, rulesTexts } from './texts.ts'
import { useRules } from './use-rules.ts'
import { WatchersSection } from './watchers-section.tsx'
import './rules-screen.css'

export function RulesScreen(): ReactNode {
  const { value: rules, problem, reload } = useRules()
  const [filter, setFilter] = useHistoryFilter(noRuleFilter)
  /** The rule in the dialog: `new`, or the rule that is edited. */
  const [edited, setEdited] = useState<Rule | 'new' | null>(null)
  const mayAllow = useMay()('rule.allow')
  const listRef = useRef<HTMLDivElement>(null)
  const move = (by: 1 | -1) => {
    const rows = [...(listRef.current?.querySelectorAll<HTMLElement>('.rule-row > details > summary') ?? [])]
    const index = rows.findIndex(row => row.parentElement === document.activeElement?.closest('details'))
    rows[index < 0 ? 0 : Math.max(0, index + by)]?.focus()
  }
  useShortcuts({ next: () => move(1), previous: () => move(-1) })
  useScreenActions({ newRule: rules === null ? undefined : () => setEdited('new') })
  return (
    <div className="page rules">
      <div className="page-head">
        <h1>{rulesTexts.title}</h1>
        <button type="button" className="button" disabled={rules === null} onClick={() => setEdited('new')}>
          {rulesTexts.newRule}
        </button>
      </div>
      <p className="soft small rules-introduction">
        {rulesTexts.introduction} {!mayAllow && rulesTexts.onlyRestricting}
      </p>
      {problem !== null && (
        <div className="load-error" role="alert">
          <p className="problem">
            {rulesTexts.loadFailed} {errorMessage(problem)}
          </p>
          <button type="button" className="button" onClick={reload}>
            {commonTexts.tryAgain}
          </button>
        </div>
      )}
      {rules === null && problem === null && <Skeleton kind="row" count={6} />}
      {rules && (
        <>
          <CommandGroups rules={rules} />
          <div className="page-filter">
            <SearchField
              label={rulesTexts.search}
              value={filter.q}
              maxLength={limits.nameMax}
              onChange={q => setFilter({ q })}
            />
            <SegmentedFilter
              label={rulesTexts.effect}
              options={effectChoices}
              value={filter.effect}
              onChange={effect => setFilter({ effect })}
            />
          </div>
          <div ref={listRef}>
            <Sections {...{ rules, filter }} onEdit={setEdited} />
          </div>
          <WatchersSection />
          <CheckCommand />
        </>
      )}
      {edited !== null && <RuleDialog edited={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </div>
  )
}

interface SectionsProps {
  readonly rules: readonly Rule[]
  readonly filter: RuleFilter
  readonly onEdit: (rule: Rule) => void
}

function Sections({ rules, filter, onEdit }: SectionsProps): ReactNode {
  const { own, files, builtIn } = useMemo(() => matchingRules(rules, filter), [rules, filter])
  const mayAllow = useMay()('rule.allow')
  const isFiltered = filter.effect !== 'all' || filter.q.trim() !== ''
  const { sections } = rulesTexts
  return (
    <>
      <Section title={sections.own} rules={own} onEdit={onEdit} />
      {own.length === 0 && (
        <div className="rules-empty">
          <p>{isFiltered ? commonTexts.noResults : rulesTexts.empty}</p>
          {!isFiltered && mayAllow && <p className="soft small">{rulesTexts.emptyHint}</p>}
        </div>
      )}
      <Section title={sections.files} rules={files} onEdit={onEdit} />
      <Section title={sections.builtIn} rules={builtIn} onEdit={onEdit} />
    </>
  )
}

/** A gateway may have thousands of rules, so the list shows only some of them at first. */
const shownAtFirst = 100

interface SectionProps {
  readonly title: string
  readonly rules: readonly Rule[]
  readonly onEdit: (rule: Rule) => void
}

function Section({ title, rules, onEdit }: SectionProps): ReactNode {
  const now = useGatewayTime(30_000)
  const [shown, setShown] = useState(shownAtFirst)
  if (rules.length === 0) return null
  const more = rules.length - shown
  return (
    <section className="rules-section" aria-label={title}>
      <h2 className="section-heading">{title}</h2>
      <ul>
        {rules.slice(0, shown).map(rule => (
          <RuleRow key={rule.id} rule={rule} now={now} onEdit={onEdit} />
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className="button" onClick={() => setShown(count => count + shownAtFirst)}>
          {rulesTexts.showMore(Math.min(more, shownAtFirst))}
        </button>
      )}
    </section>
  )
}
