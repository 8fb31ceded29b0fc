/** Shown when this browser is not signed in, or the gateway can’t be reached. */
import { Fault } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import './sign-in-screen.css'

export interface SignInScreenProps {
  readonly error: unknown
  /** The person followed a sign-in link that did not work: its error says why. */
  readonly linkFailed?: boolean
}

export function SignInScreen({ error, linkFailed = false }: SignInScreenProps): ReactNode {
  const notSignedIn = error instanceof Fault && error.status === 401
  return (
    <main className="sign-in">
      <img src="/favicon.svg" alt="" width={48} height={48} />
      <h1>{notSignedIn ? 'This browser is not signed in' : 'Holdpoint can’t be opened'}</h1>
      {notSignedIn && (
        <>
          <p>On the machine where Holdpoint runs, run</p>
          <pre className="code-block">holdpoint link</pre>
          <p>and open the link it prints. The link works once, for ten minutes.</p>
        </>
      )}
      {(!notSignedIn || linkFailed) && <p className="soft small">{errorMessage(error)}</p>}
      <button type="button" className="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  )
}
