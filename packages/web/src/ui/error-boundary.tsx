/** What breaks while it is drawn takes only its own place with it, and says so. */
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
        <h1>This screen met an error</h1>
        <p className="soft">{errorMessage(this.state.error)} Nothing that you answered or wrote is lost.</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    )
  }
}
