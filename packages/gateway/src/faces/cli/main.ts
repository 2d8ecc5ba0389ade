// The operator's command line. Each noun has a file of its own; what goes wrong is one or two plain lines and an
// exit code, never a stack.
import { Failure, KeyError } from '@tillgate/protocol'
import { StartFailure } from '../../platform/start-failure.ts'
import { operatorProgram } from './program.ts'

try {
  await operatorProgram().parseAsync()
} catch (error) {
  if (!(error instanceof StartFailure || error instanceof Failure || error instanceof KeyError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof StartFailure ? error.exitCode : 1
}
