/* This script runs before the rest of the page. It is a separate file because the gateway's Content-Security-Policy forbids inline scripts. */
;(() => {
  // Prevent Zod from testing whether `eval` works, because the policy forbids `eval` and the browser would log an error.
  globalThis.__zod_globalConfig = { jitless: true }
  try {
    // Apply the stored theme before the first paint.
    const theme = localStorage.getItem('holdpoint.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // If localStorage is blocked, the system's theme applies.
  }
})()
