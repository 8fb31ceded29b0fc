/** Tells zod, before it loads, not to probe for eval: the gateway's policy forbids it, and the browser would report the attempt. */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
