/* Runs before the rest of the page. It is a separate file because the gateway's Content-Security-Policy forbids inline scripts. */
;(() => {
  // Keep Zod from probing for eval: the policy forbids it, and the browser would report the attempt.
  globalThis.__zod_globalConfig = { jitless: true }
  try {
    // Apply the stored theme before the first paint.
    const theme = localStorage.getItem('holdpoint.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // localStorage is blocked; the system's theme applies.
  }
})()
