/** Loaded into a gateway with `--import`: sets its clock back by HOLDPOINT_TEST_AGO_MS, so that a test can record decisions of last week. */
const agoMs = Number(process.env.HOLDPOINT_TEST_AGO_MS ?? 0)
const now = Date.now
Date.now = () => now() - agoMs
