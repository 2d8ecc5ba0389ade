// The environment, and a `.env` file beneath it, turned into one frozen Config. All problems are found before
// any is reported, so that nobody mends a configuration one restart at a time.
import { parseEnv } from 'node:util'
import type { ApprovalPolicy } from '../operators/rules/approval.ts'
import type { Role } from '../operators/rules/operator.ts'
import { messageOf } from '../platform/errors.ts'
import { exitCodes, StartFailure } from '../platform/start-failure.ts'
import type { DefaultLimits } from '../wallets/rules/limits.ts'
import type { GatewayRole } from './parsers.ts'
import { type SettingName, settings } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Config {
  readonly mode: 'sandbox' | 'live'
  /** False: MODE is not set, and `mode` is its default. */
  readonly isModeGiven: boolean
  readonly processes: number
  readonly roles: readonly GatewayRole[]
  readonly publicListener: Listener
  readonly adminListener: Listener
  /** Undefined: http://localhost and the port that the public listener got. */
  readonly publicUrl: string | undefined
  /** By which the admin listener is reached, beside localhost, its own host and addresses in numbers. */
  readonly adminNames: readonly string[]
  /** Undefined: live serves no metrics; in the sandbox whoever reaches the admin listener may read them. */
  readonly metricsToken: string | undefined
  readonly dataDir: string
  /** Undefined: the gateway runs a private PostgreSQL under dataDir. */
  readonly databaseUrl: string | undefined
  /** Undefined: as databaseUrl. off: nowhere. */
  readonly databaseListenUrl: string | undefined
  readonly databasePoolMax: number
  readonly isPreparing: boolean
  readonly masterKey: Buffer | undefined
  /** Open what was sealed under them, and seal nothing. */
  readonly otherMasterKeys: readonly Buffer[]
  readonly masterKeyFile: string | undefined
  /** Of the first operator, whom the first start makes. */
  readonly operatorPassword: string | undefined
  /** As consumers are shown it. */
  readonly operator: OperatorSettings
  readonly trustedProxies: readonly string[]
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly requestsInFlightMax: number
  /** Whose operators must have a second step to sign in. */
  readonly secondStepRoles: readonly Role[]
  /** Where operators sign in; undefined: here alone. */
  readonly openId: OpenIdSettings | undefined
  /** Of members; undefined: they sign in with passwords. */
  readonly memberOpenId: Omit<OpenIdSettings, 'rolesByGroup'> | undefined
  /** What waits for a second operator. */
  readonly approvals: ApprovalPolicy
  readonly bankAccountWaitMs: number
  /** Of wallets that have none of their own. */
  readonly walletLimits: DefaultLimits
  /** What consumers withdraw without an operator who looks at it, by currency. */
  readonly withdrawalLimits: ReadonlyMap<string, bigint> | undefined
  readonly callbackHostsPerDay: number
  readonly callbackAllowedTargets: readonly string[]
  readonly callbackExtraCaFile: string | undefined
  readonly callbackHistoryDays: number
  /** Zero: no feed is kept. */
  readonly eventFeedDays: number
  /** Undefined: personal data in orders is kept. */
  readonly personalDataDays: number | undefined
  readonly lateMoney: 'refund' | 'hold'
  readonly callbacksInFlight: number
  readonly callbacksInFlightPerHost: number
  readonly callbacksInFlightPerMerchant: number
  /** Undefined: no mail is sent. */
  readonly mail: MailSettings | undefined
  /** Who hears what operators should know. */
  readonly operatorEmails: readonly string[]
  /** Undefined: no demo shop. */
  readonly shopPort: number | undefined
  /** Undefined: no test bank. */
  readonly railPort: number | undefined
  readonly sandboxMerchantsPerDay: number
  readonly hasPortal: boolean
  /** Whether strangers may apply for live keys. */
  readonly takesApplications: boolean
  readonly hasWalletPages: boolean
  /** Whether strangers may make themselves a wallet. */
  readonly takesRegistrations: boolean
  /** Undefined: nothing is traced. */
  readonly traceEndpoint: string | undefined
  readonly traceRatio: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly logFormat: 'auto' | 'json' | 'pretty'
}

export interface OperatorSettings {
  readonly name: string | undefined
  readonly logoFile: string | undefined
  readonly helpUrl: string | undefined
  readonly privacyUrl: string | undefined
  readonly imprintUrl: string | undefined
}

const hourMs = 60 * 60 * 1000

export interface Listener {
  readonly host: string
  readonly port: number
}

export interface OpenIdSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Undefined: roles are as operators were added. */
  readonly roleClaim: string | undefined
  readonly rolesByGroup: ReadonlyMap<string, Role>
}

export interface MailSettings {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly isTlsNeeded: boolean
  readonly login: { readonly user: string; readonly password: string } | undefined
  readonly from: { readonly name: string; readonly address: string }
}

export interface Problem {
  readonly name: string
  readonly problem: string
  readonly example?: string
}

export class ConfigurationFailure extends StartFailure {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(
      ({ name, problem, example }) =>
        `  ${name} ${problem}${example ? `\n    for example: ${name}=${example}` : ''}`,
    )
    super(`The configuration is not right:\n${lines.join('\n')}`, { exitCode: exitCodes.settings })
    this.problems = problems
  }
}

export function readConfig(environment: Environment, dotEnv = ''): Config {
  const problems: Problem[] = []
  const fromFile = parseEnv(dotEnv)
  for (const name of Object.keys(fromFile)) {
    if (!Object.hasOwn(settings, name)) problems.push(unknownName(name))
  }

  const given = (name: SettingName) => environment[name]?.trim() || fromFile[name]?.trim()
  const read = <N extends SettingName>(name: N): ReturnType<(typeof settings)[N]['parse']> | undefined => {
    const { fallback, parse, example } = settings[name]
    const written = given(name) || fallback
    if (written === '') return undefined
    try {
      // Safe: parse belongs to this very setting; TypeScript does not follow the union of all of them.
      return parse(written) as ReturnType<(typeof settings)[N]['parse']>
    } catch (error) {
      problems.push({ name, problem: messageOf(error), example })
      return undefined
    }
  }

  const mode = read('MODE')
  const port = read('PORT')
  const adminPort = read('ADMIN_PORT')
  const publicUrl = read('PUBLIC_URL')
  const masterKeys = read('MASTER_KEY')
  const [masterKey, ...otherMasterKeys] = masterKeys ?? []
  const masterKeyFile = read('MASTER_KEY_FILE')
  const trustedProxies = read('TRUSTED_PROXIES')
  const operatorPassword = read('OPERATOR_PASSWORD')
  const issuer = read('OIDC_ISSUER')
  const clientId = read('OIDC_CLIENT_ID')
  const clientSecret = read('OIDC_CLIENT_SECRET')
  const roleClaim = read('OIDC_ROLE_CLAIM')
  const rolesByGroup = read('OIDC_ROLES')
  const memberIssuer = read('MEMBER_OIDC_ISSUER')
  const memberClientId = read('MEMBER_OIDC_CLIENT_ID')
  const memberClientSecret = read('MEMBER_OIDC_CLIENT_SECRET')
  const mailServer = read('SMTP_URL')
  const mailFrom = read('SMTP_FROM')
  const hasWalletPages = read('WALLET') === 'on'
  const registration = read('REGISTRATION')
  const values = {
    mode,
    isModeGiven: Boolean(given('MODE')),
    processes: read('PROCESSES'),
    roles: Object.freeze(read('ROLES') ?? []),
    publicListener: Object.freeze({
      host: read('HOST') ?? (mode === 'live' ? '0.0.0.0' : 'localhost'),
      port,
    }),
    adminListener: Object.freeze({ host: read('ADMIN_HOST'), port: adminPort }),
    publicUrl,
    adminNames: Object.freeze(read('ADMIN_NAMES') ?? []),
    metricsToken: read('METRICS_TOKEN'),
    dataDir: read('DATA_DIR'),
    databaseUrl: read('DATABASE_URL'),
    databaseListenUrl: read('DATABASE_LISTEN_URL'),
    databasePoolMax: read('DATABASE_POOL'),
    isPreparing: read('DATABASE_PREPARED'),
    masterKey,
    otherMasterKeys: Object.freeze(otherMasterKeys),
    masterKeyFile,
    operatorPassword,
    operator: Object.freeze({
      name: read('OPERATOR_NAME'),
      logoFile: read('OPERATOR_LOGO_FILE'),
      helpUrl: read('OPERATOR_HELP_URL'),
      privacyUrl: read('OPERATOR_PRIVACY_URL'),
      imprintUrl: read('OPERATOR_IMPRINT_URL'),
    }),
    trustedProxies: Object.freeze(trustedProxies ?? []),
    merchantRequestsPerSecond: read('MERCHANT_REQUESTS_PER_SECOND'),
    failedOpeningsPerMinute: read('FAILED_OPENINGS_PER_MINUTE'),
    requestsInFlightMax: read('REQUESTS_IN_FLIGHT'),
    secondStepRoles: Object.freeze(read('SECOND_STEP_FOR') ?? []),
    openId:
      issuer && clientId && clientSecret
        ? Object.freeze({
            issuer,
            clientId,
            clientSecret,
            rolesByGroup: rolesByGroup ?? new Map(),
            roleClaim: rolesByGroup && roleClaim,
          })
        : undefined,
    memberOpenId:
      memberIssuer && memberClientId && memberClientSecret
        ? Object.freeze({
            issuer: memberIssuer,
            clientId: memberClientId,
            clientSecret: memberClientSecret,
            roleClaim: undefined,
          })
        : undefined,
    approvals: Object.freeze({
      refundLimits: read('APPROVAL_REFUND_ABOVE'),
      kinds: read('APPROVAL_FOR') ?? [],
      lifeMs: (read('APPROVAL_HOURS') ?? 0) * hourMs,
    }),
    bankAccountWaitMs: (read('BANK_ACCOUNT_WAIT_HOURS') ?? 0) * hourMs,
    walletLimits: Object.freeze({
      payment: read('WALLET_PAYMENT_LIMIT'),
      day: read('WALLET_DAY_LIMIT'),
      balance: read('WALLET_BALANCE_LIMIT'),
    }),
    withdrawalLimits: read('WITHDRAWALS_UP_TO'),
    callbackHostsPerDay: read('CALLBACK_HOSTS_PER_DAY'),
    callbackAllowedTargets: Object.freeze(read('CALLBACK_ALLOWED_TARGETS') ?? []),
    callbackExtraCaFile: read('CALLBACK_EXTRA_CA_FILE'),
    callbackHistoryDays: read('CALLBACK_HISTORY_DAYS'),
    eventFeedDays: read('EVENT_FEED_DAYS'),
    personalDataDays: read('PERSONAL_DATA_DAYS'),
    lateMoney: read('LATE_MONEY'),
    callbacksInFlight: read('CALLBACKS_IN_FLIGHT'),
    callbacksInFlightPerHost: read('CALLBACKS_IN_FLIGHT_PER_HOST'),
    callbacksInFlightPerMerchant: read('CALLBACKS_IN_FLIGHT_PER_MERCHANT'),
    mail:
      mailServer &&
      mailFrom &&
      Object.freeze({
        ...mailServer,
        isTlsNeeded: mode === 'live' && !mailServer.isSecure && !isThisMachine(mailServer.host),
        from: mailFrom,
      }),
    operatorEmails: Object.freeze(read('OPERATOR_EMAILS') ?? []),
    shopPort: read('SHOP_PORT'),
    railPort: read('RAIL_PORT'),
    sandboxMerchantsPerDay: read('SANDBOX_MERCHANTS_PER_DAY'),
    hasPortal: read('PORTAL') === 'on',
    takesApplications: read('APPLICATIONS') === 'on',
    hasWalletPages,
    takesRegistrations:
      registration === undefined ? mode === 'sandbox' && hasWalletPages : registration === 'on',
    traceEndpoint: read('OTEL_EXPORTER_OTLP_ENDPOINT'),
    traceRatio: read('OTEL_TRACES_SAMPLER_ARG'),
    logLevel: read('LOG_LEVEL'),
    logFormat: read('LOG_FORMAT'),
  }

  if (port !== undefined && port !== 0 && port === adminPort) {
    problems.push({ name: 'ADMIN_PORT', problem: `is ${port}, which PORT already uses`, example: '8081' })
  }
  if (masterKey && masterKeyFile) {
    problems.push({ name: 'MASTER_KEY_FILE', problem: 'and MASTER_KEY are both set: keep one of them' })
  }
  if (values.takesApplications && (mode !== 'live' || !values.hasPortal)) {
    problems.push({
      name: 'APPLICATIONS',
      problem: 'is on, which needs MODE=live and PORTAL=on; in the sandbox newcomers sign on at /sandbox',
    })
  }
  if (values.takesRegistrations && !(hasWalletPages && (values.mail || mode !== 'live'))) {
    problems.push({
      name: 'REGISTRATION',
      problem: 'is on, which needs WALLET=on, and in live SMTP_URL for the codes that prove a login',
    })
  }
  for (const provider of [
    { prefix: 'OIDC', issuer, clientId, clientSecret },
    {
      prefix: 'MEMBER_OIDC',
      issuer: memberIssuer,
      clientId: memberClientId,
      clientSecret: memberClientSecret,
    },
  ] as const) {
    const { prefix } = provider
    if (provider.issuer && !(provider.clientId && provider.clientSecret))
      problems.push({
        name: provider.clientId ? `${prefix}_CLIENT_SECRET` : `${prefix}_CLIENT_ID`,
        problem: `must be set with ${prefix}_ISSUER`,
        example: settings[`${prefix}_CLIENT_ID`].example,
      })
    if (mode === 'live' && provider.issuer?.startsWith('http:'))
      problems.push({ name: `${prefix}_ISSUER`, problem: 'must be https in live mode' })
  }
  if (mailServer && !mailFrom && !problems.some(({ name }) => name === 'SMTP_FROM')) {
    problems.push({
      name: 'SMTP_FROM',
      problem: 'must be set with SMTP_URL: it is who notices come from',
      example: settings.SMTP_FROM.example,
    })
  }
  if (mode === 'live') {
    const missing = missingForLive({ publicUrl, masterKeys, masterKeyFile, trustedProxies })
    problems.push(...missing, ...settingNames.flatMap((name) => exampleProblem(name, given(name)) ?? []))
    // Whether it is needed, only the database knows; whoever lacks the others most likely starts for the first time.
    if (missing.length > 0 && operatorPassword === undefined) problems.push(operatorPasswordMissing)
  }
  if (problems.length > 0) throw new ConfigurationFailure(problems)
  // Safe: a setting that has a fallback is undefined only when it was refused, and then we have thrown.
  return Object.freeze(values) as Config
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function missingForLive(given: {
  publicUrl: string | undefined
  masterKeys: readonly Buffer[] | undefined
  masterKeyFile: string | undefined
  trustedProxies: readonly string[] | undefined
}): Problem[] {
  const missing: Problem[] = []
  if (!given.publicUrl?.startsWith('https://')) {
    missing.push({
      name: 'PUBLIC_URL',
      problem: 'must be a public https address in live mode',
      example: settings.PUBLIC_URL.example,
    })
  }
  if (!given.masterKeys && !given.masterKeyFile) {
    missing.push({
      name: 'MASTER_KEY',
      problem: 'or MASTER_KEY_FILE must be set in live mode; make a key with: openssl rand -base64 32',
    })
  }
  if (!given.trustedProxies) {
    // Without it all the world has the proxy's address, and one sender of junk shuts everybody out.
    missing.push({
      name: 'TRUSTED_PROXIES',
      problem: 'must name the proxy that speaks https in front of the gateway, or be "none"',
      example: settings.TRUSTED_PROXIES.example,
    })
  }
  return missing
}

const settingNames = Object.keys(settings) as SettingName[]

function exampleProblem(name: SettingName, written = '', where: SettingName = name): Problem | undefined {
  const { isSecret, example } = settings[name]
  // Of several master keys each.
  if (!isSecret || !written.split(/[\s,]+/).includes(example)) return undefined
  return { name: where, problem: 'is or holds the example that everybody knows; make one of your own' }
}

/** Those of a file are known only once it is read. */
export function refuseExampleKeys({ mode }: Pick<Config, 'mode'>, keys: readonly Buffer[]): void {
  const written = keys.map((key) => key.toString('base64')).join()
  const problem = exampleProblem('MASTER_KEY', written, 'MASTER_KEY_FILE')
  if (mode === 'live' && problem) throw new ConfigurationFailure([problem])
}

/** Of a live gateway that has no operator yet. */
export const operatorPasswordMissing: Problem = {
  name: 'OPERATOR_PASSWORD',
  problem: 'must be set at the first start in live mode: it is the password of the first operator, admin',
  example: settings.OPERATOR_PASSWORD.example,
}

function unknownName(name: string): Problem {
  const nearest = Object.keys(settings)
    .map((known) => ({ known, distance: editDistance(name.toUpperCase(), known) }))
    .sort((a, b) => a.distance - b.distance)[0]
  const hint =
    nearest && nearest.distance <= Math.max(2, name.length / 3) ? `; did you mean ${nearest.known}?` : ''
  return { name, problem: `in .env is not a setting of Tillgate${hint}` }
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
