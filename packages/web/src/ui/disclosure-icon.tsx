/** The icon of a button that shows or hides what is below it. It points down while the button is expanded. */
import ChevronRightIcon from 'lucide-react/icons/chevron-right'
import type { ReactNode } from 'react'
import './disclosure-icon.css'

export function DisclosureIcon(): ReactNode {
  return <ChevronRightIcon className="disclosure-icon" />
}
