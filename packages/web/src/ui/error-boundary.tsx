/** Shows an error message in place of a screen whose rendering throws, so that the rest of the page keeps working. */
import { Component, type ReactNode } from 'react'
import { errorMessage } from '../gateway/error-message.ts'

export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override readonly state = { error: null }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children
    return (
      <div className="page" role="alert">
        <h1>Something went wrong on this screen</h1>
        <p className="soft">{errorMessage(this.state.error)} Your answers and drafts are saved.</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    )
  }
}
