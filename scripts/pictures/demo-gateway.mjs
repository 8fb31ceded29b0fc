/** Runs a gateway for screenshots: the real gateway and page with scripted agents, and a clock that can be moved forward so that requests look old. */
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
  {
    name: 'rehearsal',
    title: 'Rehearsal agent: demonstrates every kind of request',
    capabilities,
    modes: ['default'],
    ready: true,
  },
]

/** Every path exists and is an empty folder, so that rules can be proposed without real files. */
const emptyFolders = { realPath: path => path, readText: () => null, list: () => [] }

const checkFolder = async path => (path.startsWith('/') ? 'folder' : 'relative')
const machine = { runner, home: '/home/you', files: emptyFolders, checkFolder }

/** Opens a gateway whose clock starts `minutesAgo` minutes in the past. `advance` moves the clock toward the current time. */
export async function openDemoGateway(minutesAgo) {
  let offsetMs = minutesAgo * 60_000
  const now = () => Date.now() - offsetMs
  const store = await openMemory({ clock: { now, monotonic: now } })
  const gateway = await openGateway({ store, machine })
  const owner = callAs(gateway, { ...(await gateway.ensureToken('owner', 'owner', 'you')), via: 'page' })
  const asRunner = callAs(gateway, await gateway.ensureToken('runner', 'runner', 'runner', runner))
  const { incarnation } = await asRunner('announceRunner', { id: runner, name: 'this machine', drivers })
  const renew = () => asRunner('renewRunner', { id: runner, incarnation })
  const renewTimer = setInterval(() => void renew(), 1000)
  const server = await createServer({ gateway, staticDir: page }).listen({ port: 0 })

  return {
    url: server.url,
    call: owner,
    /** Returns a link that signs in the owner, or the person with this id. */
    async link(person) {
      const { code } = await owner('makeLink', person === undefined ? {} : { person })
      return `${server.url}/#code=${code}`
    },
    /** Adds another person, and returns their id and calls. */
    async person(name) {
      const caller = { ...(await gateway.ensureToken(name, 'person', name)), via: 'page' }
      return { id: caller.id, call: callAs(gateway, caller) }
    },
    async advance(minutes) {
      offsetMs = Math.max(0, offsetMs - minutes * 60_000)
      await renew()
    },
    agent: start => openAgent({ owner, asRunner, incarnation }, start),
    /** Closes the server, as if the gateway had been killed. */
    disconnect: () => server.close(),
    async close() {
      clearInterval(renewTimer)
      await server.close()
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
    say: (...events) => asRunner('appendEvents', { id, fence, items: events }),
    ask: (ask, more) => asRunner('openRequest', { id, fence, key: `ask-${++asked}`, ask, ...more }),
    /** Answers the request and reports its delivery. */
    async resolve(request, answer) {
      await owner('answerRequest', { id: request.id, digest: request.digest, answer })
      for (const state of ['handed', 'taken']) await asRunner('reportDelivery', { id: request.id, fence, state })
    },
  }
}
