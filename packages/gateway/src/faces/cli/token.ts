// tillgate token …: tokens of the admin API.
import { Command } from 'commander'
import type { ManageTokens } from '../../operators/manage-tokens.ts'
import { scopeNames, scopes, tokenLimits } from '../../operators/rules/api-token.ts'
import { type CommandContext, type OutputOptions, print, table, withContext } from './context.ts'

export function tokenCommand(): Command {
  const command = new Command('token').description('manage tokens of the admin API')

  command
    .command('add')
    .description('make a token; it is shown this once')
    .argument('<name>', 'what it is for, such as nightly-payouts')
    .requiredOption('--operator <login>', 'in whose name it acts, and never with more than that role')
    .requiredOption('--scopes <scopes>', 'separated by commas')
    .option('--days <number>', 'how long it lives', String(tokenLimits.defaultDays))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nScopes:\n${table(
        ['scope', 'role', 'allows to'],
        scopeNames.map((scope) => [scope, scopes[scope].needs, scopes[scope].meaning]),
      )
        .map((line) => `  ${line}`)
        .join('\n')}`,
    )
    .action((name: string, options: OutputOptions & { operator: string; scopes: string; days: string }) =>
      withTokens(async (tokens, { actor }) => {
        const given = {
          login: options.operator,
          name,
          scopes: options.scopes.split(',').map((scope) => scope.trim()),
          days: Number(options.days),
        }
        const { apiToken, token } = await tokens.addToken(given, actor)
        print(options, { ...apiToken, token }, [
          `Token ${apiToken.name} of ${apiToken.login} works until ${day(apiToken.expiresAtMs)}.`,
          '',
          `  ${token}`,
          '',
          'Note it now: it is not shown again.',
        ])
      }),
    )

  command
    .command('list')
    .description('live tokens')
    .option('--operator <login>', 'of one operator')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { operator?: string }) =>
      withTokens(async (tokens) => {
        const all = await tokens.listTokens(options.operator?.toLowerCase())
        print(
          options,
          all,
          all.length === 0
            ? ['No live tokens.']
            : table(
                ['tokenId', 'operator', 'name', 'until', 'last used', 'scopes'],
                all.map((token) => [
                  token.tokenId,
                  token.login,
                  token.name,
                  day(token.expiresAtMs),
                  token.lastUsedAtMs === undefined ? 'never' : day(token.lastUsedAtMs),
                  token.scopes.join(','),
                ]),
              ),
        )
      }),
    )

  command
    .command('revoke')
    .description('a token stops working with the next request')
    .argument('<tokenId>')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((tokenId: string, options: OutputOptions & { reason: string }) =>
      withTokens(async (tokens, { actor }) => {
        await tokens.revokeToken(tokenId, { login: undefined, actor, reason: options.reason })
        print(options, { tokenId, revoked: true }, [`Token ${tokenId} is revoked.`])
      }),
    )
  return command
}

function withTokens(work: (tokens: ManageTokens, context: CommandContext) => Promise<void>): Promise<void> {
  return withContext((context) => work(context.operations.apiTokens, context))
}

function day(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}
