/** The icon of a request that shows no risk: questions, a form or a plan. */
import type { Ask } from '@holdpoint/protocol'
import ClipboardListIcon from 'lucide-react/icons/clipboard-list'
import QuestionIcon from 'lucide-react/icons/message-circle-question-mark'
import type { ReactNode } from 'react'

export function KindIcon({ kind }: { readonly kind: Ask['kind'] }): ReactNode {
  const Icon = kind === 'questions' ? QuestionIcon : ClipboardListIcon
  return <Icon className="risk-icon kind" />
}
