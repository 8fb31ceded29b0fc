/** A gateway for pictures: the real gateway and the real page, agents that only say their lines, and a clock that can be put forward, so that things have waited. */
import { fileURLToPath } from 'node:url'
import { callAs, openGateway } from '../../packages/engine/dist/index.js'
import { createServer } from '../../packages/server/dist/index.js'
import { openMemory } from '../../packages/store/dist/index.js'

const page = fileURLToPath(new URL('../../packages/web/dist/page', import.meta.url))
const runner = 'run_00000000000000000000'
const capabilities = ['resumable', 'checksEveryTool', 'messages', 'attachments', 'interrupt']
const modes = ['default', 'acceptEdits', 'plan', 'bypassPermissions']
const drivers = [
  { name: 'claude', title: 'Claude Code', capabilities, modes, ready: true },
  { name: 'rehearsal', title: 'Rehearsal: plays every kind of ask', capabilities, modes: ['default'], ready: true },
]

/** It begins so many minutes ago; what is done in it comes closer to now with every `pass`. */
export async function openHouse(minutesAgo) {
  let behindMs = minutesAgo * 60_000
  const store = await openMemory({ clock: { now: () => Date.now() - behindMs } })
  const gateway = await openGateway({ store })
  const owner = callAs(gateway, { ...(await gateway.ensureToken('owner', 'person', 'you')), via: 'page' })
  const asRunner = callAs(gateway, await gateway.ensureToken('runner', 'runner', 'runner'))
  const { incarnation } = await asRunner('announceRunner', { id: runner, name: 'this machine', drivers })
  const renew = () => asRunner('renewRunner', { id: runner, incarnation })
  const renewing = setInterval(() => void renew(), 1000)
  const listening = await createServer({ gateway, staticDir: page }).listen({ port: 0 })

  return {
    url: listening.url,
    call: owner,
    async link() {
      const { code } = await owner('makeLink', {})
      return `${listening.url}/#code=${code}`
    },
    async pass(minutes) {
      behindMs = Math.max(0, behindMs - minutes * 60_000)
      await renew()
    },
    agent: start => openAgent({ owner, asRunner, incarnation }, start),
    /** Nobody answers any more, as when it was killed. */
    vanish: () => listening.close(),
    async close() {
      clearInterval(renewing)
      await listening.close()
      await gateway.close()
      await store.close()
    },
  }
}

async function openAgent({ owner, asRunner, incarnation }, start) {
  const { id } = await owner('startSession', { driver: 'claude', ...start })
  const { fence } = await asRunner('attachSession', { id, runner, incarnation })
  const { items } = await asRunner('listCommands', { id })
  for (const command of items) {
    await asRunner('takeCommand', { id: command.id, fence })
    await asRunner('finishCommand', { id: command.id, fence })
  }
  let asked = 0
  return {
    id,
    say: (...said) => asRunner('appendEvents', { id, fence, items: said }),
    ask: (ask, more) => asRunner('openRequest', { id, fence, key: `ask-${++asked}`, ask, ...more }),
    /** Answers what was asked, and goes on with it. */
    async settle(request, answer) {
      await owner('answerRequest', { id: request.id, digest: request.digest, answer })
      for (const state of ['handed', 'taken']) await asRunner('reportDelivery', { id: request.id, fence, state })
    },
  }
}
