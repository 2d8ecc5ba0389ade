// The `.env` file of the folder that the program was started in, if there is one.
import { readFileSync } from 'node:fs'
import { exitCodes, StartFailure } from '../platform/start-failure.ts'

export function readDotEnv(): string {
  try {
    return readFileSync('.env', 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new StartFailure(`.env cannot be read: ${(error as Error).message}`, {
      exitCode: exitCodes.settings,
    })
  }
}
