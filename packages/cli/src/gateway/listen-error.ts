/** Explains why a server cannot listen on a port. */
import { Fault } from '@holdpoint/protocol'
import { listenErrors } from './texts.ts'

export function throwListenError(error: NodeJS.ErrnoException, port: number): never {
  const explain = listenErrors[error.code ?? '']
  if (!explain) throw error
  throw new Fault(error.code === 'EADDRINUSE' ? 'store_locked' : 'bad_input', explain(port))
}
