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
import { type DatabaseAddress, railInitCommand } from './rail-init.ts'

const groups: Readonly<Record<string, string>> = {
  merchant: 'onboard, show, pay out, suspend and resume merchants',
  key: 'add, rotate and revoke a merchant’s keys',
  order: 'show, cancel and refund orders',
  callback: 'list and resend callbacks',
  'callback-destination': 'list failing callback destinations',
  'callback-host': 'pause and resume callbacks to a host',
  event: 'follow the events of orders and refunds',
  endpoint: 'manage merchants’ webhook endpoints',
  wallet: 'add, show, top up, lock and unlock consumers’ wallets',
  rail: 'manage and check external payment systems',
  email: 'list emails, and resend failed ones',
  operator: 'manage operators, who sign in to the console',
  member: 'manage merchants’ members, who sign in to the portal',
  application: 'review applications for live keys',
  token: 'manage tokens of the admin API',
  'platform-key': 'list, rotate and retire the gateway’s own keys',
  link: 'manage merchants’ payment links',
  transfer: 'record received and returned bank transfers',
  bank: 'manage the operator’s own bank accounts',
  price: 'set, end and list merchants’ prices',
  fee: 'explain the fee of a payment',
  correction: 'correct balances: fund, withdraw, reverse, release, write off',
  reconcile: 'import statements, resolve breaks, close days',
  bill: 'list and download merchants’ daily bills',
  payout: 'list payouts, and record the bank’s results',
  'payout-plan': 'show and set merchants’ payout schedules',
  'payout-run': 'start, send and end payout runs',
}

export interface ProgramParts {
  readonly withContext: WithContext
  readonly terminal: Terminal
  readonly migrationsFolder: string
  readonly examine: Examine
  readonly actions: readonly Action[]
  readonly databaseAddress: DatabaseAddress
}

export function operatorProgram(parts: ProgramParts): Command {
  const { withContext, terminal, migrationsFolder, examine, actions } = parts
  const program = new Command('tillgate')
    .description(
      'Operate a Tillgate gateway. Uses the same settings as `npm start`, from the environment and .env.',
    )
    .version(build)
    .hook('preAction', (_program, command) => {
      const { reason } = command.opts<{ reason?: string }>()
      if (reason !== undefined) parseLine(reason, 'reason')
    })
    .showHelpAfterError('(use --help for usage)')
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
  program.commands
    .find((each) => each.name() === 'rail')
    ?.addCommand(railInitCommand(parts))
    .addCommand(railCheckCommand(terminal))
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
