/* What must be so before anything else of the page runs: a file of its own, because the gateway's policy lets no script stand in the page. */
;(() => {
  // Zod must not probe for eval: the policy forbids it, and the browser would report the attempt.
  globalThis.__zod_globalConfig = { jitless: true }
  try {
    // Before the first paint: the theme that this browser keeps.
    const theme = localStorage.getItem('holdpoint.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // Nothing is kept in this browser: the system's theme it is.
  }
})()
