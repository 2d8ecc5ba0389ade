// Reads the `.env` file of the working folder, if there is one.
import { readFileSync } from 'node:fs'
import { codeOf, messageOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'

export function readDotEnv(): string {
  try {
    return readFileSync('.env', 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw new StartFailure(`.env cannot be read: ${messageOf(error)}`, {
      exitCode: exitCodes.settings,
    })
  }
}
