/** The Rules and Settings screens until they are built. */
import type { ReactNode } from 'react'
import './placeholder-screen.css'

const texts = {
  rules: {
    title: 'Rules',
    text: 'Rules can’t be edited here yet. Every request waits for a person, unless the agent’s program remembers an earlier answer.',
  },
  settings: {
    title: 'Settings',
    text: 'There are no settings here yet. To sign in another browser, run “holdpoint link”.',
  },
} as const

export function PlaceholderScreen({ screen }: { readonly screen: keyof typeof texts }): ReactNode {
  const { title, text } = texts[screen]
  return (
    <div className="page placeholder">
      <h1>{title}</h1>
      <p className="soft">{text}</p>
    </div>
  )
}
