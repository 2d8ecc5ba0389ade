// Where the command line finds its credentials: the option, the environment, or the file that a sandbox on this
// machine wrote.
import type { Credentials } from '../credentials.ts'
import { CredentialsError } from '../errors.ts'
import { credentialsFromEnvironment, credentialsFromJson, environmentNames } from '../load-credentials.ts'
import { type OptionValues, textOption } from './command.ts'
import type { World } from './terminal.ts'

export function findCredentials(values: OptionValues, world: World): Partial<Credentials> {
  const { environment } = world
  const path = textOption(values, 'credentials') ?? environment['TILLGATE_CREDENTIALS']
  if (path) return read(path, world)
  const names = Object.values(environmentNames).flatMap((name) => [name, `${name}_FILE`])
  if (names.some((name) => environment[name])) return credentialsFromEnvironment(environment)
  const sandbox = `${environment['DATA_DIR'] || './data'}/sandbox-merchant.json`
  if (world.fileExists(sandbox)) return read(sandbox, world)
  throw new CredentialsError([
    `there are none: give --credentials FILE, or set ${environmentNames.gatewayUrl} and the others,`,
    `or start a sandbox here, which writes ${sandbox}`,
  ])
}

function read(path: string, world: World): Partial<Credentials> {
  try {
    return credentialsFromJson(world.readFile(path).toString('utf8'), path)
  } catch (cause) {
    if (cause instanceof CredentialsError) throw cause
    throw new CredentialsError([`${path} cannot be read: ${(cause as Error).message}`], { cause })
  }
}
