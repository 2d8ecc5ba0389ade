// Finds the command line's credentials: the option, the environment, the .env of the current folder, or the file of a
// sandbox on this machine.
import { parseEnv } from 'node:util'
import type { Credentials } from '../credentials.ts'
import { CredentialsError } from '../errors.ts'
import { credentialsFromEnvironment, credentialsFromJson, environmentNames } from '../load-credentials.ts'
import { type OptionValues, textOption } from './command.ts'
import type { World } from './terminal.ts'

export function findCredentials(values: OptionValues, world: World): Partial<Credentials> {
  const given = textOption(values, 'credentials')
  if (given) return read(given, world)
  const environment = { ...readDotEnv(world), ...world.environment }
  const path = environment['TILLGATE_CREDENTIALS']
  if (path) return read(path, world)
  const names = Object.values(environmentNames).flatMap((name) => [name, `${name}_FILE`])
  if (names.some((name) => environment[name])) return credentialsFromEnvironment(environment)
  const sandbox = `${environment['DATA_DIR'] || './data'}/sandbox-merchant.json`
  if (world.fileExists(sandbox)) return read(sandbox, world)
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
