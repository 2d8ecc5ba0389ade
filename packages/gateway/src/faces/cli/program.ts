// The operator's commands as one tree: what runs them and what documents them both take it from here.
import { Command } from 'commander'
import { version } from '../../platform/version.ts'
import { parseLine } from '../../platform/visible-text.ts'
import { callbackCommand } from './callback.ts'
import { dbCommand } from './db.ts'
import { hostCommand } from './host.ts'
import { keyCommand } from './key.ts'
import { ledgerCommand } from './ledger.ts'
import { masterKeyCommand } from './master-key.ts'
import { merchantCommand } from './merchant.ts'
import { operatorCommand } from './operator.ts'
import { platformKeyCommand } from './platform-key.ts'
import { statementCommand } from './statement.ts'
import { tokenCommand } from './token.ts'
import { walletCommand } from './wallet.ts'

export function operatorProgram(): Command {
  return new Command('tillgate')
    .description(
      'Operate a Tillgate gateway: the same settings as `npm start`, from the environment and .env.',
    )
    .version(version)
    .hook('preAction', (_program, command) => {
      const { reason } = command.opts<{ reason?: string }>()
      if (reason !== undefined) parseLine(reason, 'reason')
    })
    .showHelpAfterError('(add --help for what there is)')
    .addCommand(merchantCommand())
    .addCommand(keyCommand())
    .addCommand(callbackCommand())
    .addCommand(hostCommand())
    .addCommand(walletCommand())
    .addCommand(ledgerCommand())
    .addCommand(statementCommand())
    .addCommand(operatorCommand())
    .addCommand(dbCommand())
    .addCommand(masterKeyCommand())
    .addCommand(platformKeyCommand())
    .addCommand(tokenCommand())
}
