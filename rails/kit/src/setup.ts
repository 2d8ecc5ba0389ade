// What `tillgate rail init` needs to set up a rail: instructions for the provider's site, and settings that are asked for
// until they are valid.
import { readFileSync } from 'node:fs'
import { ConfigurationError, kitSettings, type Settings } from './configuration.ts'

export interface RailSetup {
  readonly provider: string
  /** As consumers see the rail at the checkout. */
  readonly name: string
  readonly currencies: readonly string[]
  readonly settings: Settings
  /** What the operator does on the provider's site. `railUrl`: where the provider reaches the rail. */
  readonly steps: (railUrl: string) => readonly string[]
}

export type Ask = (question: string, options: { readonly isSecret: boolean }) => Promise<string>
type Given = Readonly<Record<string, string | undefined>>

/** Returns the given or entered settings. Without `ask`, one error lists all missing and invalid ones. */
export async function collectSettings(
  declared: Settings,
  given: Given,
  ask?: Ask,
): Promise<Map<string, string>> {
  const collected = new Map<string, string>()
  const problems: string[] = []
  const all: Settings = { ...kitSettings, ...declared }
  for (const [name, setting] of Object.entries(all)) {
    if (name === 'RAIL_SECRET') continue
    const { about, fallback, check, isSecret = false } = setting
    let value = read(given[name] ?? '')
    if (value === '' && fallback !== undefined) continue
    let wrong = value === '' ? 'is missing' : check?.(value)
    for (let problem = ''; wrong !== undefined && ask; problem = `${name} ${wrong}.\n`) {
      value = read(await ask(`${problem}${name}: ${about}\n> `, { isSecret }))
      wrong = value === '' ? 'is missing' : check?.(value)
    }
    if (wrong !== undefined) problems.push(`${name} ${wrong}. ${about}`)
    collected.set(name, value)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return collected
}

/** Keys often are files, but a settings file has one line per setting. */
function read(written: string): string {
  const text = written.startsWith('@') ? readFileSync(written.slice(1), 'utf8') : written
  return text.trim().replace(/\r?\n/g, '\\n')
}

/** For `node --env-file` and `docker run --env-file`, which support no escapes. */
export function settingsFile(values: ReadonlyMap<string, string>): string {
  return [...values].map(([name, value]) => `${name}=${quoted(value)}\n`).join('')
}

function quoted(value: string): string {
  if (!/[#'"`\s]/.test(value)) return value
  const quote = ["'", '"', '`'].find((each) => !value.includes(each)) ?? "'"
  return `${quote}${value}${quote}`
}
