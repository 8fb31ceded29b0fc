/** Shows the risk of a request as an icon and a word, and what the request touches. Everything here comes from `risk`, which Holdpoint derives itself. */
import { riskLevelLabels, shortRiskLabel, touchesLabel } from '@holdpoint/client'
import type { Risk, RiskLevel } from '@holdpoint/protocol'
import CircleMinusIcon from 'lucide-react/icons/circle-minus'
import OctagonAlertIcon from 'lucide-react/icons/octagon-alert'
import TriangleAlertIcon from 'lucide-react/icons/triangle-alert'
import type { ReactNode } from 'react'
import './risk.css'

/** The levels differ in shape, so that people who cannot distinguish the colors can tell them apart. */
const icons = { low: CircleMinusIcon, notable: TriangleAlertIcon, dangerous: OctagonAlertIcon } as const

export function RiskIcon({ level }: { readonly level: RiskLevel }): ReactNode {
  const Icon = icons[level]
  return <Icon className={`risk-icon ${level}`} />
}

/** The words beside the icon in a row. Most requests are notable, so the row says what they touch, and only screen readers, which do not read the icon, also read the level. */
export function RiskWords({ risk }: { readonly risk: Risk }): ReactNode {
  return (
    <>
      {risk.level === 'notable' && <span className="visually-hidden">{riskLevelLabels.notable}: </span>}
      {shortRiskLabel(risk)}
    </>
  )
}

export function RiskBadge({ level }: { readonly level: RiskLevel }): ReactNode {
  return (
    <span className={`risk-badge ${level}`}>
      <RiskIcon level={level} />
      {riskLevelLabels[level]}
    </span>
  )
}

/** The line of a card with its risk. Questions and forms have none. */
export function RiskLine({ risk }: { readonly risk: Risk | undefined }): ReactNode {
  if (!risk) return null
  const touches = touchesLabel(risk)
  return (
    <p className="risk-line">
      <RiskBadge level={risk.level} />
      {touches !== '' && <span className="risk-touches">{touches}</span>}
    </p>
  )
}
