// Warns about unknown names that look like settings. A misspelled name in .env stops the start (config.ts). Other tools
// add names of their own to that file and the environment, so those cause only a warning.
import { parseEnv } from 'node:util'
import { settings } from './settings.ts'

const settingNames = Object.keys(settings)

/**
 * First words that usually only our settings have, such as SMTP_HOST or OIDC_SCOPE. OTEL_… and LOG_… belong to other
 * programs too.
 */
const ownFirstWords: ReadonlySet<string> = new Set([
  'APPROVAL',
  'CALLBACK',
  'CALLBACKS',
  'MEMBER',
  'OIDC',
  'OPERATOR',
  'SANDBOX',
  'SMTP',
  'WALLET',
])
/** Shorter names resemble too many others: HOME is like HOST. */
const leastTypoLength = 8
const mostTyposInEnvironment = 2
const prefix = 'TILLGATE_'

/** One line each, for the log. */
export function unknownNameWarnings(
  environment: Readonly<Record<string, string | undefined>>,
  dotEnv: string,
): string[] {
  const inFile = Object.keys(parseEnv(dotEnv)).filter((name) => !Object.hasOwn(settings, name))
  const inEnvironment = Object.keys(environment).filter((name) => environment[name] && isMeantForUs(name))
  return [...inFile.map((name) => warning(name, '.env')), ...inEnvironment.map((name) => warning(name))]
}

function isMeantForUs(name: string): boolean {
  if (Object.hasOwn(settings, name)) return false
  if (name.startsWith(prefix)) return Object.hasOwn(settings, name.slice(prefix.length))
  if (ownFirstWords.has(name.split('_')[0] ?? '') && name.includes('_')) return true
  return name.length >= leastTypoLength && settingNames.some((known) => isTypoOf(known, name))
}

/** Every start compares the whole environment, so lengths come first. */
function isTypoOf(known: string, name: string): boolean {
  if (Math.abs(known.length - name.length) > mostTyposInEnvironment) return false
  return editDistance(name.toUpperCase(), known) <= mostTyposInEnvironment
}

function warning(name: string, file?: string): string {
  const where = file === undefined ? 'in the environment' : `in ${file}`
  const nearest = nearestSetting(name)
  const hint = nearest.isLike || nearest.isRelated ? `; the nearest setting is ${nearest.name}` : ''
  return `${name} ${where} is not a setting of Tillgate and has no effect${hint}`
}

export interface NearestSetting {
  readonly name: string
  readonly distance: number
  /** A probable misspelling. */
  readonly isLike: boolean
  /** Starts with the same word. */
  readonly isRelated: boolean
}

export function nearestSetting(given: string): NearestSetting {
  const written = given.toUpperCase()
  const name = written.startsWith(prefix) ? written.slice(prefix.length) : written
  const [first = ''] = name.split('_')
  const found = settingNames.map((known) => ({ known, distance: editDistance(name, known) }))
  // SMTP_HOST is not ADMIN_HOST: unless it is a misspelling, the first word identifies the topic.
  const related = found.filter(({ known }) => known.startsWith(`${first}_`))
  const [{ known, distance } = { known: 'MODE', distance: name.length }] = [
    ...found.filter((each) => each.distance <= mostTyposInEnvironment).sort(byDistance),
    ...related.sort(byDistance),
    ...found.sort(byDistance),
  ]
  const isRelated = known.startsWith(`${first}_`)
  return { name: known, distance, isLike: distance <= Math.max(2, name.length / 3), isRelated }
}

function byDistance(one: { readonly distance: number }, other: { readonly distance: number }): number {
  return one.distance - other.distance
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
