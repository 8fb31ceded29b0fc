/** Places that are kept free for what comes later, and say so. */
import type { ReactNode } from 'react'
import './placeholder-screen.css'

const words = {
  rules: {
    title: 'Rules',
    text: 'Standing answers will be kept here: what is always allowed, asked or denied, where and until when. Until then every request waits for a person, except where the agent’s own program remembers an answer.',
  },
  settings: {
    title: 'Settings',
    text: 'People, devices and credentials will be kept here. Until then “holdpoint link” signs another browser in.',
  },
} as const

export function PlaceholderScreen({ screen }: { readonly screen: keyof typeof words }): ReactNode {
  const { title, text } = words[screen]
  return (
    <div className="page placeholder">
      <h1>{title}</h1>
      <p className="soft">{text}</p>
      <p className="faint small">This comes later.</p>
    </div>
  )
}
