// Checks everything that a gateway with these settings needs. The checks are independent, so that one problem does not
// hide another; only unreadable settings end the examination, because all checks need them.
import type { Finding } from '../../adapters/cli/doctor.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { StartFailure } from '../../platform/runtime/start-failure.ts'
import { ConfigurationFailure } from '../../platform/settings/settings-table.ts'
import type { Config } from '../settings/config.ts'
import { checkDatabase } from './database.ts'
import { failed, failedBy, ok, warning } from './findings.ts'
import { checkDisk, checkFiles, checkPorts } from './machine.ts'
import { checkMail, checkProviders, checkProxy, checkPublicUrl } from './network.ts'

export interface DoctorParts {
  readonly readSettings: () => Config
  /** One line for each misspelled or unknown setting in the environment and `.env`. */
  readonly unknownNames: () => readonly string[]
  readonly dotEnvFile: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly freeBytes?: (folder: string) => Promise<number>
}

export async function examineGateway(parts: DoctorParts): Promise<readonly Finding[]> {
  let config: Config
  try {
    config = parts.readSettings()
  } catch (error) {
    if (error instanceof ConfigurationFailure) return error.problems.map(problemOf)
    if (error instanceof StartFailure) return [failedBy('settings', error)]
    throw error
  }
  const names = parts
    .unknownNames()
    .map((line) => warning('settings', `${line}.`, 'Correct the name, or remove the line.'))
  const findings = await Promise.all([
    names.length > 0 ? names : ok('settings', `The settings are consistent (${config.mode}).`),
    checkFiles(config, parts.dotEnvFile),
    checkDisk(config, parts.freeBytes),
    checkPorts(config),
    checkPublicUrl(config),
    checkProxy(config),
    checkMail(config),
    checkProviders(config),
    checkDatabase(config, parts),
  ])
  return findings.flat()
}

function problemOf({ name, problem, example }: ConfigurationFailure['problems'][number]): Finding {
  const fix = example
    ? `Set ${name}, for example ${name}=${example}`
    : `Correct ${name}; .env.example describes it.`
  return failed('settings', `${name} ${problem}.`, fix)
}
