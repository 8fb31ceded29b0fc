/** Shows the risk of a request as an icon and a word, and what the request touches. Everything here comes from `risk`, which Holdpoint derives itself. */
import { riskLevelLabels, touchesLabel } from '@holdpoint/client'
import type { Risk, RiskLevel } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import './risk.css'

/** Shapes in a box of 16 × 16. The levels differ in shape, so that people who cannot distinguish the colors can tell them apart. */
const outlines: Readonly<Record<RiskLevel, string>> = {
  low: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z',
  notable: 'M8 2 1.5 13.5h13Z',
  dangerous: 'M5.5 1.5h5l4 4v5l-4 4h-5l-4-4v-5Z',
}
const signs: Readonly<Record<RiskLevel, string>> = {
  low: 'M5.5 8h5',
  notable: 'M8 6v3.5M8 11.4v.2',
  dangerous: 'M8 4.5v4.2M8 11.2v.2',
}

export function RiskIcon({ level }: { readonly level: RiskLevel }): ReactNode {
  return (
    <svg className={`risk-icon ${level}`} viewBox="0 0 16 16" aria-hidden="true">
      <path className="risk-outline" d={outlines[level]} />
      <path className="risk-sign" d={signs[level]} />
    </svg>
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
