import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { cleanEnvironment, closeGateways, shortPause, startGateway } from '../../../test/support/gateway.ts'

afterEach(closeGateways)

/** Returns the README's curl script with the address of this gateway. */
function scriptFor(url: string): string {
  const readme = readFileSync(resolve(import.meta.dirname, '../../../README.md'), 'utf8')
  const block = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(match => match[1] ?? '')
    .find(text => /curl/.test(text))
  return (block ?? '').replace('http://127.0.0.1:4747', url)
}

it('the curl script in the README asks, acts on the answer, reports the answer as taken and ends its session', async () => {
  const gateway = await startGateway({ runner: 'none' })
  mkdirSync(join(gateway.folder, '.holdpoint'))
  writeFileSync(join(gateway.folder, '.holdpoint/token'), gateway.token)
  const env = { ...cleanEnvironment(), HOME: gateway.folder }
  const child = spawn('/bin/sh', ['-c', scriptFor(gateway.url)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  const exited = new Promise(done => child.once('close', done))
  const pending = async () => (await gateway.call('listRequests', { status: 'pending' })).items[0]
  let request = await pending()
  for (; !request; request = await pending()) await shortPause()
  const answer = { kind: 'answers' as const, answers: [{ id: 'go', chosen: ['yes'] }] }
  await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
  expect([await exited, out]).toEqual([0, 'Deploying…\n'])
  expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  expect((await gateway.call('getSession', { id: request.session })).state).toBe('ended')
})
