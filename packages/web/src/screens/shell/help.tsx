/** The help dialog, which lists the keyboard shortcuts. */
import type { ReactNode } from 'react'
import { shortcutGroups } from '../../shortcuts/texts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { keySafety } from './texts.ts'
import './help.css'

export function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog label="Keyboard" className="help" onClose={onClose}>
      <div className="dialog-head">
        <h1>Keyboard</h1>
        <button type="button" className="button plain" onClick={onClose}>
          Close
        </button>
      </div>
      <div className="help-groups">
        {shortcutGroups.map(group => (
          <section key={group.title}>
            <h2 className="section-heading">{group.title}</h2>
            <dl>
              {group.keys.map(({ keys, description }) => (
                <div key={description} className="help-key">
                  <dt>
                    {keys.map(key => (
                      <kbd key={key} className="kbd">
                        {key}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="soft small">{keySafety}</p>
    </Dialog>
  )
}
