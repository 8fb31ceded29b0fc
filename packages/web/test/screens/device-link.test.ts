import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { LinkView } from '../../src/screens/settings/device-link.tsx'

const html = (url: string) => renderToStaticMarkup(createElement(LinkView, { link: { url, expiresAt: 0 } }))

it.each(['http://192.168.1.20:4747', 'https://holdpoint.example.com', 'http://[fd00::1]:4747'])(
  'a sign-in link at %s has a QR code',
  origin => {
    expect(html(`${origin}/#code=abc`)).toContain('QR code of the link')
    expect(html(`${origin}/#code=abc`)).toContain('Scan this code with your phone')
  },
)

it.each(['http://127.0.0.1:4747', 'http://localhost:4747', 'http://[::1]:4747', 'http://holdpoint.localhost:4747'])(
  'a sign-in link at %s has no QR code, because only this computer can open it',
  origin => {
    expect(html(`${origin}/#code=abc`)).not.toContain('QR code')
    expect(html(`${origin}/#code=abc`)).toContain(`${origin}/#code=abc`)
  },
)
