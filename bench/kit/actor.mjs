/** The main module of every actor process. Calls the exports of the actor when the parent process asks for it, and exits when the parent process disconnects. */
const actor = await import(new URL(`../actors/${process.argv[2]}.mjs`, import.meta.url))

process.on('message', async ({ id, method, input }) => {
  try {
    process.send({ id, value: await actor[method](input) })
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
