// Configuration by environment variables. All problems are listed at once.
import { isWebhookSecret } from '@tillgate/protocol'

export interface Setting {
  readonly about: string
  readonly fallback?: string
  /** Never shown in logs. */
  readonly isSecret?: boolean
  /** Why the value is invalid, as the end of a sentence that starts with the setting's name. */
  readonly check?: (value: string) => string | undefined
}

export type Settings = Readonly<Record<string, Setting>>
export type Values<Declared extends Settings> = Readonly<Record<keyof Declared, string>>

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export const kitSettings = {
  RAIL_SECRET: {
    about:
      'The secret that the gateway showed when you registered the rail; two, separated by a comma, while one is replaced.',
    isSecret: true,
    check: (value) =>
      value.split(',').every(isWebhookSecret) ? undefined : 'must be whsec_ and the base64 of 24 to 64 bytes',
  },
  DATABASE_URL: {
    about: 'PostgreSQL 15 or newer. The rail creates its own schema.',
    isSecret: true,
    check: (value) => (/^postgres(ql)?:\/\//.test(value) ? undefined : 'must begin with postgresql://'),
  },
  RAIL_PORT: {
    about: 'The port of messages, webhooks and health.',
    fallback: '8090',
    check: (value) => (/^\d{1,5}$/.test(value) && Number(value) < 65_536 ? undefined : 'must be a port'),
  },
  RAIL_SCHEMA: {
    about: 'The schema in the database; empty: tillgate_rail_ and the name of the rail.',
    fallback: '',
    check: (value) =>
      /^[a-z][a-z0-9_]{0,62}$/.test(value) ? undefined : 'must be lower-case letters, digits and _',
  },
  RAIL_HOST: { about: 'The address to listen on.', fallback: '127.0.0.1' },
} as const satisfies Settings

export function readSettings<Declared extends Settings>(
  environment: Readonly<Record<string, string | undefined>>,
  settings: Declared,
): Values<Declared> {
  const values: Record<string, string> = {}
  const problems: string[] = []
  for (const [name, { about, fallback, check }] of Object.entries(settings)) {
    const given = environment[name]
    const value = given === undefined || given === '' ? fallback : given
    if (value === undefined) {
      problems.push(`${name} is missing. ${about}`)
      continue
    }
    const wrong = value === '' ? undefined : check?.(value)
    if (wrong !== undefined) problems.push(`${name} ${wrong}. ${about}`)
    values[name] = value
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  // Safe: every declared name has a value above.
  return values as Values<Declared>
}

export function secretsIn(settings: Settings, values: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings)
    .filter(([, { isSecret }]) => isSecret)
    .flatMap(([name]) => (values[name] ?? '').split(','))
    .filter((secret) => secret.length >= 8)
}
