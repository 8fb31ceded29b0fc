/** Tests the action that the driver derives from a tool call of Claude Code. */
import { describe, expect, it } from 'vitest'
import { actionFor } from '../../src/claude/approvals/action.ts'

describe('the tool Glob of Claude Code', () => {
  it.each([
    [{ pattern: '**/*.ts' }, ['/srv']],
    [{ pattern: 'src/**/*.ts' }, ['/srv/src']],
    [{ pattern: '*.ts', path: 'sub' }, ['/srv/sub']],
    [{ pattern: '*.ts', path: '/other' }, ['/other']],
    [{ pattern: '/root/.ssh/*', path: '/srv' }, ['/root/.ssh']],
    [{ pattern: '../../root/.ssh/id*' }, ['/root/.ssh']],
    [{ pattern: '.ssh/config', path: '/root' }, ['/root/.ssh/config']],
    [{ pattern: '{src,/root/.ssh}/*' }, ['/srv/src', '/root/.ssh']],
    [{ pattern: 'src/*.{ts,tsx}' }, ['/srv/src']],
    [{ pattern: '*/../../root/*' }, ['/']],
    [{ pattern: '/[r]oot/.ssh/*' }, ['/']],
    [{ pattern: '{a,b}'.repeat(10) }, ['/']],
  ])('the tool Glob of Claude Code with %j reads the folders %j', (input, read) => {
    expect(actionFor('Glob', input, '/srv')).toEqual({ read })
  })
})

describe('the tool Grep of Claude Code', () => {
  it('the tool Grep of Claude Code reads the folder that it names, or the working folder', () => {
    expect(actionFor('Grep', { pattern: 'x', path: 'src' }, '/srv')).toEqual({ read: ['src'] })
    expect(actionFor('Grep', { pattern: 'x' }, '/srv')).toEqual({ read: ['/srv'] })
  })
})
