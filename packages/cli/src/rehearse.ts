/** `holdpoint rehearse`: a session with the built-in agent, and where to answer it. */
import type { Home } from './home.ts'
import { needGateway } from './remote.ts'

export async function rehearse(home: Home, message: string, json: boolean): Promise<void> {
  const { url, call } = needGateway(home)
  const session = await call('startSession', {
    driver: 'rehearsal',
    title: 'Rehearsal',
    prompt: message || 'Show me everything',
  })
  if (json) return console.log(JSON.stringify(session))
  const { code } = await call('makeLink', {})
  console.log(`The rehearsal has begun (${session.id}). Answer it here:\n\n  ${url}/#code=${code}\n`)
}
