// Finds the command line's credentials: the option, the environment, the .env of the current folder, or the file of a
// sandbox on this machine.
import { parseEnv } from 'node:util'
import type { Credentials } from '../credentials.ts'
import { CredentialsError } from '../errors.ts'
import {
  credentialsFromEnvironment,
  credentialsFromJson,
  environmentNames,
  namingVariables,
} from '../load-credentials.ts'
import { type OptionValues, textOption } from './command.ts'
import type { World } from './terminal.ts'

interface Found {
  readonly credentials: Partial<Credentials>
  readonly areVariables?: boolean
}

export function findCredentials(values: OptionValues, world: World): Partial<Credentials> {
  return find(values, world).credentials
}

/** Calls `make` with the credentials. Its errors name environment variables if the credentials come from there. */
export function withCredentials<Made>(
  values: OptionValues,
  world: World,
  make: (credentials: Partial<Credentials>) => Made,
): Made {
  const { credentials, areVariables } = find(values, world)
  return areVariables ? namingVariables(() => make(credentials)) : make(credentials)
}

function find(values: OptionValues, world: World): Found {
  const given = textOption(values, 'credentials')
  if (given) return { credentials: read(given, world) }
  const environment = { ...readDotEnv(world), ...world.environment }
  const path = environment['TILLGATE_CREDENTIALS']
  if (path) return { credentials: read(path, world) }
  const names = Object.values(environmentNames).flatMap((name) => [name, `${name}_FILE`])
  if (names.some((name) => environment[name]))
    return { credentials: credentialsFromEnvironment(environment), areVariables: true }
  const sandbox = `${environment['DATA_DIR'] || './data'}/sandbox-merchant.json`
  if (world.fileExists(sandbox)) return { credentials: read(sandbox, world) }
  throw new CredentialsError([
    `no credentials found: use --credentials FILE, or set ${environmentNames.gatewayUrl} and the others,`,
    `here or in a .env file (a sandbox offers one at /sandbox), or start a sandbox, which writes ${sandbox}`,
  ])
}

function readDotEnv(world: World): Record<string, string | undefined> {
  return world.fileExists('.env') ? parseEnv(world.readFile('.env').toString('utf8')) : {}
}

function read(path: string, world: World): Partial<Credentials> {
  try {
    return credentialsFromJson(world.readFile(path).toString('utf8'), path)
  } catch (cause) {
    if (cause instanceof CredentialsError) throw cause
    throw new CredentialsError([`Cannot read ${path}: ${(cause as Error).message}`], { cause })
  }
}
