// tillgate operator …: who may sign in to the console.
import { Command, Option } from 'commander'
import type { GivenPassword, ManageOperators } from '../../operators/manage-operators.ts'
import { type Role, roles } from '../../operators/rules/operator.ts'
import { commandName, type OutputOptions, print, table, withContext } from './context.ts'
import { readTextFile } from './files.ts'

interface PasswordOptions extends OutputOptions {
  readonly passwordFile?: string
}

export function operatorCommand(): Command {
  const command = new Command('operator').description('manage who may sign in to the console')

  withPasswordFile(command.command('add'))
    .description('add an operator; without --password-file a password is made and shown this once')
    .argument('<login>')
    .addOption(
      new Option('--role <role>', 'viewer sees, operator acts, admin manages')
        .choices(roles)
        .makeOptionMandatory(),
    )
    .action((login: string, options: PasswordOptions & { role: Role }) =>
      withOperators(async (operators) => {
        const given = await operators.addOperator({ login, role: options.role, ...passwordOf(options) })
        print(options, given, [`Operator ${given.login} is there, as ${options.role}.`, ...say(given)])
      }),
    )

  command
    .command('list')
    .description('all operators')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withOperators(async (operators) => {
        const all = await operators.listOperators()
        print(
          options,
          all,
          all.length === 0
            ? [`No operators yet: the first start of the gateway makes one, or ${commandName} operator add.`]
            : table(
                ['login', 'role', 'status', 'password of'],
                all.map(({ login, role, status, passwordChangedAtMs }) => [
                  login,
                  role,
                  status,
                  new Date(passwordChangedAtMs).toISOString().slice(0, 10),
                ]),
              ),
        )
      }),
    )

  withPasswordFile(command.command('reset-password'))
    .description(
      'give a new password; ends the operator’s sessions, API tokens and the lock of too many wrong tries',
    )
    .argument('<login>')
    .requiredOption('--reason <text>', 'why, for the audit')
    .action((login: string, options: PasswordOptions & { reason: string }) =>
      withOperators(async (operators) => {
        const given = await operators.resetPassword({
          login,
          reason: options.reason,
          ...passwordOf(options),
        })
        print(options, given, [`Operator ${given.login} has a new password.`, ...say(given)])
      }),
    )

  command
    .command('reset-totp')
    .description(
      'take the second step of signing in away, when app and recovery codes are lost; ends sessions and API tokens',
    )
    .argument('<login>')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((login: string, options: OutputOptions & { reason: string }) =>
      withContext(async ({ operations, actor }) => {
        await operations.secondStep.reset(login, { actor, reason: options.reason })
        print(options, { login, hasSecondStep: false }, [
          `Operator ${login} signs in with the password alone now.`,
        ])
      }),
    )

  for (const verb of ['disable', 'enable'] as const) {
    command
      .command(verb)
      .description(
        verb === 'disable'
          ? 'sign an operator out everywhere, for good, and revoke their API tokens'
          : 'let one sign in again; API tokens stay revoked',
      )
      .argument('<login>')
      .requiredOption('--reason <text>', 'why, for the audit')
      .option('--json', 'print JSON')
      .action((login: string, options: OutputOptions & { reason: string }) =>
        withOperators(async (operators) => {
          const change = verb === 'disable' ? operators.disableOperator : operators.enableOperator
          await change(login, options.reason)
          print(options, { login, status: verb === 'disable' ? 'disabled' : 'active' }, [
            `Operator ${login} is ${verb}d.`,
          ])
        }),
      )
  }
  return command
}

function withOperators(work: (operators: ManageOperators) => Promise<void>): Promise<void> {
  return withContext(({ acts }) => work(acts.operators))
}

function withPasswordFile(command: Command): Command {
  return command
    .option('--password-file <file>', 'a file with the password; - reads standard input')
    .option('--json', 'print JSON')
}

function passwordOf({ passwordFile }: PasswordOptions): { password?: string } {
  return passwordFile === undefined ? {} : { password: readTextFile(passwordFile).replace(/\r?\n$/, '') }
}

function say({ password }: GivenPassword): string[] {
  if (password === undefined) return []
  return ['', `  password  ${password}`, '', 'Note it now: it is not shown again.']
}
