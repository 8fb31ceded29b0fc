/** Main module of every actor process: calls the functions of its module on request, and exits when its parent disconnects. */
const actor = await import(new URL(`../actors/${process.argv[2]}.mjs`, import.meta.url))

process.on('message', async ({ id, method, input }) => {
  try {
    process.send({ id, value: await actor[method](input) })
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
