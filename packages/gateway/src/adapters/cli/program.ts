// The operator's commands as one tree, which is run and documented from here. Most are actions of the catalog; those
// that work on the database itself are separate commands.
import { Command } from 'commander'
import type { Action } from '../../actions/action.ts'
import { build } from '../../platform/runtime/version.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import { addActionCommand } from './action-commands.ts'
import type { Terminal, WithContext } from './context.ts'
import { dbCommand } from './db.ts'
import { doctorCommand, type Examine } from './doctor.ts'
import { ledgerCommand } from './ledger.ts'
import { masterKeyCommand } from './master-key.ts'
import { railCheckCommand } from './rail-check.ts'

const groups: Readonly<Record<string, string>> = {
  merchant: 'onboard, show, pay out, suspend and resume merchants',
  key: 'add, rotate and revoke a merchant’s keys',
  order: 'look at orders, cancel and refund them',
  callback: 'look at callbacks and send them again',
  'callback-destination': 'list destinations whose callbacks fail',
  'callback-host': 'pause and resume the callbacks to a host',
  event: 'follow what happens to orders and refunds',
  endpoint: 'manage the callback endpoints of merchants',
  wallet: 'add, look at, top up, lock and unlock consumers’ wallets',
  rail: 'connect other systems that move money, and check them',
  email: 'look at emails, and send those again that failed',
  operator: 'manage who may sign in to the console',
  member: 'manage the people of merchants, who sign in to the portal',
  application: 'list, ask, approve and reject applications for live keys',
  token: 'manage tokens of the admin API',
  'platform-key': 'list, rotate and retire the gateway’s own keys',
  link: 'make payment links for merchants, look at them, pause, resume and close them',
  transfer: 'record bank transfers that came, and money that was sent back',
  bank: 'manage the operator’s own bank accounts',
  price: 'set, end and list what payments cost merchants',
  fee: 'explain what a payment costs a merchant',
  correction: 'fund, withdraw, reverse, release and write off',
  reconcile: 'import statements, resolve what does not match the books, close days',
  bill: 'list and download merchants’ bills, one for each day',
  payout: 'list payouts, and record what the bank did with them',
  'payout-plan': 'show and set when merchants are paid out',
  'payout-run': 'start, send and end runs of payouts',
}

export interface ProgramParts {
  readonly withContext: WithContext
  readonly terminal: Terminal
  readonly migrationsFolder: string
  readonly examine: Examine
  readonly actions: readonly Action[]
}

export function operatorProgram(parts: ProgramParts): Command {
  const { withContext, terminal, migrationsFolder, examine, actions } = parts
  const program = new Command('tillgate')
    .description(
      'Operate a Tillgate gateway: the same settings as `npm start`, from the environment and .env.',
    )
    .version(build)
    .hook('preAction', (_program, command) => {
      const { reason } = command.opts<{ reason?: string }>()
      if (reason !== undefined) parseLine(reason, 'reason')
    })
    .showHelpAfterError('(add --help for what there is)')
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    })
    .exitOverride()
  for (const [name, description] of Object.entries(groups)) program.command(name).description(description)
  for (const action of actions) {
    const { command } = action
    if (!command) continue
    const [noun = ''] = action.name.split('.')
    const parent = program.commands.find((each) => each.name() === noun) ?? program.command(noun)
    addActionCommand(parent, { ...action, command }, { withContext, terminal })
  }
  program.commands.find((each) => each.name() === 'rail')?.addCommand(railCheckCommand(terminal))
  for (const command of [
    ledgerCommand(withContext, terminal),
    dbCommand({ withContext, terminal, migrationsFolder }),
    masterKeyCommand(withContext, terminal),
    doctorCommand(examine, terminal),
  ])
    program.addCommand(command)
  takeOver(program)
  return program
}

/** Commander passes settings down only to commands that it creates itself. */
function takeOver(parent: Command): void {
  for (const command of parent.commands) takeOver(command.copyInheritedSettings(parent))
}
