/** The screen shown when this browser is not signed in or can't reach the gateway. */
import { Fault } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { commonTexts } from '../texts.ts'
import { signInTexts } from './texts.ts'
import './sign-in-screen.css'

export interface SignInScreenProps {
  readonly error: unknown
  /** True if the person followed a sign-in link that did not work; `error` says why. */
  readonly linkFailed?: boolean
}

export function SignInScreen({ error, linkFailed = false }: SignInScreenProps): ReactNode {
  const notSignedIn = error instanceof Fault && error.status === 401
  return (
    <main className="sign-in">
      <img src="/favicon.svg" alt="" width={48} height={48} />
      <h1>{notSignedIn ? signInTexts.notSignedIn : signInTexts.cannotOpen}</h1>
      {notSignedIn && (
        <>
          <p>{signInTexts.runCommand}</p>
          <pre className="code-block">{signInTexts.command}</pre>
          <p>{signInTexts.openLink}</p>
        </>
      )}
      {(!notSignedIn || linkFailed) && <p className="soft small">{errorMessage(error)}</p>}
      <button type="button" className="button" onClick={() => location.reload()}>
        {commonTexts.tryAgain}
      </button>
    </main>
  )
}
