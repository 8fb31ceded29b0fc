/** Shows a rule as one sentence: what it does, where it applies and how long. */
import { driverLabel } from '@holdpoint/client'
import type { RuleDraft } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useDriver } from '../../gateway/use-driver.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { dateTime } from '../../text/format-time.ts'
import { Path } from '../../text/path.tsx'
import { RuleText } from './rule-text.tsx'
import { summaryTexts } from './texts.ts'

export function RuleSummary({ rule }: { readonly rule: RuleDraft }): ReactNode {
  const { until, expiresAt, usesLeft } = rule
  const limits = [
    ...(until === undefined ? [] : [summaryTexts.until[until]]),
    ...(expiresAt === undefined ? [] : [summaryTexts.expires(dateTime(expiresAt))]),
    ...(usesLeft === undefined ? [] : [summaryTexts.uses(usesLeft)]),
  ]
  return (
    <>
      <RuleText rule={rule} /> <RuleScopeText rule={rule} />
      {limits.map(limit => `, ${limit}`)}.
    </>
  )
}

export interface RuleScopeTextProps {
  readonly rule: Pick<RuleDraft, 'scope'>
  /** Keeps the folder on one line. */
  readonly oneLine?: boolean
}

/** Shows where a rule applies. */
export function RuleScopeText({ rule: { scope }, oneLine = false }: RuleScopeTextProps): ReactNode {
  const { cwd, session, driver, agentPath } = scope ?? {}
  const info = useDriver(driver)
  const isEverywhere = cwd === undefined && session === undefined && driver === undefined && !agentPath?.length
  return (
    <span className="rule-scope">
      {isEverywhere && summaryTexts.everywhere}
      {cwd !== undefined && (
        <>
          {summaryTexts.inFolder}{' '}
          {oneLine ? <Path path={cwd} className="mono" /> : <ExactText text={cwd} className="mono" />}
        </>
      )}
      {session !== undefined && ` ${summaryTexts.inSession}`}
      {driver !== undefined && (
        <>
          {` ${summaryTexts.forDriver} `}
          <InlineAgentText text={driverLabel(driver, info?.title)} />
        </>
      )}
      {agentPath !== undefined && agentPath.length > 0 && (
        <>
          {` ${summaryTexts.forSubagent} `}
          <InlineAgentText text={agentPath.join(' › ')} />
        </>
      )}
    </span>
  )
}
