/** The icon of an answer. There is one each for yes, no, a question to the agent, and no answer. */
import type { resolutionTone } from '@holdpoint/client'
import CheckIcon from 'lucide-react/icons/check'
import QuestionIcon from 'lucide-react/icons/circle-question-mark'
import MinusIcon from 'lucide-react/icons/minus'
import XIcon from 'lucide-react/icons/x'
import type { ReactNode } from 'react'

export type Tone = ReturnType<typeof resolutionTone>

const icons = { yes: CheckIcon, no: XIcon, asked: QuestionIcon, none: MinusIcon } as const satisfies Record<
  Tone,
  unknown
>

export function ToneIcon({ tone }: { readonly tone: Tone }): ReactNode {
  const Icon = icons[tone]
  return <Icon className={`receipt-icon ${tone}`} />
}
