/** Shows which of the earlier and pending requests a rule would have matched. */
import { previewLabel } from '@holdpoint/client'
import type { RequestId, RuleDraft, RulePreview } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useGatewayTime } from '../../gateway/gateway-context.ts'
import { ExactText } from '../../text/agent-text.tsx'
import { clockTime } from '../../text/format-time.ts'
import { ToneIcon } from '../receipt/tone-icon.tsx'
import { previewTexts } from './texts.ts'
import './rule-preview.css'

export interface PreviewResult {
  readonly preview: RulePreview | null
  readonly problem: string | null
}

/** Asks the gateway what the rule would have matched. Returns null while the preview is loading. */
export function useRulePreview(rule: RuleDraft | null): PreviewResult | null {
  const { call } = useGateway()
  const [result, setResult] = useState<(PreviewResult & { readonly key: string }) | null>(null)
  const key = JSON.stringify(rule)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` changes with the content of `rule`
  useEffect(() => {
    if (!rule) return
    const controller = new AbortController()
    call('previewRule', { rule }, { signal: controller.signal }).then(
      preview => setResult({ key, preview, problem: null }),
      (error: unknown) => {
        if (!controller.signal.aborted) setResult({ key, preview: null, problem: errorMessage(error) })
      },
    )
    return () => controller.abort()
  }, [call, key])
  return result?.key === key ? result : null
}

export interface RulePreviewViewProps {
  readonly result: PreviewResult | null
  /** The request that the person answers now. It is not counted as another pending request. */
  readonly except?: RequestId
}

export function RulePreviewView({ result, except }: RulePreviewViewProps): ReactNode {
  const now = useGatewayTime(60_000)
  return (
    <div className="rule-preview" role="status">
      {result === null ? (
        <p className="soft small">{previewTexts.loading}</p>
      ) : result.preview === null ? (
        <p className="problem">{result.problem}</p>
      ) : (
        <>
          <p className="small">
            {previewLabel(result.preview, now)} <AlsoPending preview={result.preview} except={except} />
          </p>
          <Examples preview={result.preview} />
        </>
      )}
    </div>
  )
}

interface AlsoPendingProps {
  readonly preview: RulePreview
  readonly except: RequestId | undefined
}

function AlsoPending({ preview, except }: AlsoPendingProps): ReactNode {
  const count = preview.pending.filter(id => id !== except).length
  return count > 0 && <strong className="strong">{previewTexts.alsoPending(count, preview.pendingComplete)}</strong>
}

const tones = { allow: 'yes', deny: 'no', none: 'none' } as const

function Examples({ preview }: { readonly preview: RulePreview }): ReactNode {
  const examples = withoutRepeats(preview.examples)
  if (examples.length === 0) return null
  return (
    <ul className="rule-examples" aria-label={previewTexts.examples}>
      {examples.map(({ request, what, answer, at }) => (
        <li key={request}>
          <ToneIcon tone={tones[answer ?? 'none']} />
          <ExactText text={what} className="mono agent-background rule-exact" oneLine />
          <span className="soft">{previewTexts.answers[answer ?? 'none']}</span>
          <time className="faint">{clockTime(at)}</time>
        </li>
      ))}
    </ul>
  )
}

type Example = RulePreview['examples'][number]

/** Leaves out examples with the same text and answer as an earlier one, because they say nothing new. */
function withoutRepeats(examples: readonly Example[]): readonly Example[] {
  const keyOf = ({ what, answer }: Example) => `${answer} ${what}`
  return [...new Map(examples.toReversed().map(example => [keyOf(example), example])).values()].toReversed()
}
