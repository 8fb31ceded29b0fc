/** The main module of every actor: calls what it is told to call, answers, and ends when nobody is there to tell it anything. */
const acts = await import(new URL(`../actors/${process.argv[2]}.mjs`, import.meta.url))

process.on('message', async ({ id, act, input }) => {
  try {
    process.send({ id, value: await acts[act](input) })
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
