// The version of this program, from its package.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Safe: our own package.json has a version.
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
  version: string
}

export { version }
