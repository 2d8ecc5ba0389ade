// The operator's command line. Each noun has a file of its own; what goes wrong is one or two plain lines and an
// exit code, never a stack.
import { Failure, KeyError } from '@tillgate/protocol'
import { StartFailure } from '../start-failure.ts'
import { operatorProgram } from './program.ts'
import { version } from '../version.ts'
import { callbackCommand } from './callback.ts'
import { hostCommand } from './host.ts'
import { keyCommand } from './key.ts'
import { ledgerCommand } from './ledger.ts'
import { merchantCommand } from './merchant.ts'
import { operatorCommand } from './operator.ts'
import { statementCommand } from './statement.ts'
import { walletCommand } from './wallet.ts'

const program = new Command('tillgate')
  .description('Operate a Tillgate gateway: the same settings as `npm start`, from the environment and .env.')
  .version(version)
  .showHelpAfterError('(add --help for what there is)')
  .addCommand(merchantCommand())
  .addCommand(keyCommand())
  .addCommand(callbackCommand())
  .addCommand(hostCommand())
  .addCommand(walletCommand())
  .addCommand(ledgerCommand())
  .addCommand(statementCommand())
  .addCommand(operatorCommand())

try {
  await operatorProgram().parseAsync()
} catch (error) {
  if (!(error instanceof StartFailure || error instanceof Failure || error instanceof KeyError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof StartFailure ? error.exitCode : 1
}
