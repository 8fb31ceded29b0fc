/** Waits until a page has nothing more to draw, for pictures. */

/** Resolves when the page shows no placeholder for data that is loading, and has not changed for 400 ms. By then all animations have ended. @param {import('playwright-core').Page} page */
export function waitUntilStable(page) {
  return page.evaluate(
    () =>
      /** @type {Promise<void>} */ (
        new Promise(done => {
          const finish = () => {
            if (document.querySelector('.skeleton')) timer = setTimeout(finish, 400)
            else done()
          }
          let timer = setTimeout(finish, 400)
          new MutationObserver(() => {
            clearTimeout(timer)
            timer = setTimeout(finish, 400)
          }).observe(document.body, { childList: true, subtree: true, attributes: true })
        })
      ),
  )
}
