/** Creates a one-time link that signs in another browser. */
import { type ReactNode, useState } from 'react'
import { encode } from 'uqr'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { useScreenActions } from '../../shortcuts/screen-actions.ts'
import { clockTime } from '../../text/format-time.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { deviceTexts } from './texts.ts'

export interface Link {
  readonly url: string
  readonly expiresAt: number
}

export function DeviceLink(): ReactNode {
  const { call } = useGateway()
  const live = useLive()
  const [link, setLink] = useState<Link | null>(null)
  const [making, setMaking] = useState(false)
  const [problem, setProblem] = useState('')
  const make = async () => {
    setMaking(true)
    setProblem('')
    try {
      const { code, expiresAt } = await call('makeLink', {})
      setLink({ url: `${location.origin}/#code=${code}`, expiresAt })
    } catch (error) {
      setProblem(errorMessage(error))
    }
    setMaking(false)
  }
  useScreenActions({ deviceLink: live && !making ? () => void make() : undefined })
  return (
    <>
      <p className="soft small">{deviceTexts.introduction}</p>
      {isLoopback(location.hostname) && <p className="soft small">{deviceTexts.onlyHere(location.host)}</p>}
      <div className="settings-actions">
        <button type="button" className="button" disabled={!live || making} onClick={() => void make()}>
          {making ? deviceTexts.making : link ? deviceTexts.another : deviceTexts.make}
        </button>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {link && <LinkView link={link} />}
    </>
  )
}

/** The link as text, and as a QR code if another device can open it. */
export function LinkView({ link: { url, expiresAt } }: { readonly link: Link }): ReactNode {
  const isOnlyHere = isLoopback(new URL(url).hostname)
  return (
    <div className="device-link">
      {!isOnlyHere && <QrCode text={url} />}
      <div className="device-link-text">
        <p className="small">{isOnlyHere ? deviceTexts.openHere : deviceTexts.scan}</p>
        <p className="mono device-link-url">{url}</p>
        <p className="soft small">
          {deviceTexts.expires(clockTime(expiresAt))} <CopyButton text={url} />
        </p>
      </div>
    </div>
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || host.startsWith('127.')
}

/** Dark squares on white in both themes, because many cameras cannot read an inverted code. */
function QrCode({ text }: { readonly text: string }): ReactNode {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={deviceTexts.qrLabel}>
      <path d={path} shapeRendering="crispEdges" />
    </svg>
  )
}
