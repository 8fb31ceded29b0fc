/** The Rules and Settings screens, which only show a text because they are not built yet. */
import type { ReactNode } from 'react'
import { placeholderTexts } from './texts.ts'
import './placeholder-screen.css'

export function PlaceholderScreen({ screen }: { readonly screen: keyof typeof placeholderTexts }): ReactNode {
  const { title, text } = placeholderTexts[screen]
  return (
    <div className="page placeholder">
      <h1>{title}</h1>
      <p className="soft">{text}</p>
    </div>
  )
}
