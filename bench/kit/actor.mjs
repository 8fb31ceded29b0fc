/** The main module of every actor process. Calls the export of the actor that a message of the parent process names, sends back the result, and exits when the parent process disconnects. */
const actor = await import(new URL(`../actors/${process.argv[2]}.mjs`, import.meta.url))

process.on('message', async ({ id, method, input }) => {
  try {
    process.send({ id, value: await actor[method](input) })
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
