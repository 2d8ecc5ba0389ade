// How `npm start` runs the program: its line in package.json, taken apart, so that what is measured is what is shipped.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const words: string[] = scripts.start.split(' ')

/** Before the command, such as MALLOC_ARENA_MAX=1. */
export const startVariables: Record<string, string> = Object.fromEntries(
  words.slice(0, words.indexOf('exec')).map((word) => word.split('=')),
)
/** Node's own, such as --max-semi-space-size=8. */
export const startOptions: readonly string[] = words.slice(words.indexOf('node') + 1, -1)
export const startScript = join(root, words.at(-1) ?? '')
