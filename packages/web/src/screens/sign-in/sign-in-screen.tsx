/** What someone sees whom the gateway does not know, or who cannot reach it. */
import { Fault } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import './sign-in-screen.css'

export function SignInScreen({ error }: { readonly error: unknown }): ReactNode {
  const stranger = error instanceof Fault && error.status === 401
  return (
    <main className="sign-in">
      <img src="/favicon.svg" alt="" width={48} height={48} />
      <h1>{stranger ? 'This browser is not signed in' : 'Holdpoint cannot be opened'}</h1>
      {stranger && (
        <>
          <p>On the machine where Holdpoint runs, type</p>
          <pre className="code-block">holdpoint link</pre>
          <p>and open the address that it prints. It works once, for ten minutes.</p>
        </>
      )}
      <p className="soft small">{errorMessage(error)}</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  )
}
