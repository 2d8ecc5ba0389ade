// Parses the environment, with a `.env` file as its base, into one frozen Config: each setting by the table, then
// checks across settings.
import { parseEnv } from 'node:util'
import type { OperatorSettings } from '../../adapters/checkout/brand.ts'
import type { ApprovalPolicy } from '../../core/authority/rules/approval.ts'
import type { Role } from '../../core/authority/rules/roles.ts'
import type { DefaultLimits } from '../../core/wallets/rules/limits.ts'
import {
  ConfigurationFailure,
  type Environment,
  givenTexts,
  type Problem,
  parseTable,
  type Values,
} from '../../platform/settings/settings-table.ts'
import type { GatewayRole } from './parsers.ts'
import { type SettingName, settings } from './settings.ts'
import { nearestSetting } from './unknown-names.ts'

export interface Config {
  readonly mode: 'sandbox' | 'live'
  /** False if MODE is not set and `mode` is the default. */
  readonly isModeGiven: boolean
  readonly processes: number
  readonly roles: readonly GatewayRole[]
  readonly publicListener: Listener
  readonly adminListener: Listener
  /** Undefined for http://localhost with the public listener's port. */
  readonly publicUrl: string | undefined
  /** The Strict-Transport-Security header of the public listener; undefined for none. */
  readonly hsts: string | undefined
  /** Host names of the admin listener, in addition to localhost, its own host and numeric addresses. */
  readonly adminNames: readonly string[]
  /** If undefined, live serves no metrics, and the sandbox serves them to everyone who reaches the admin listener. */
  readonly metricsToken: string | undefined
  readonly dataDir: string
  /** If undefined, the gateway runs a private PostgreSQL under dataDir. */
  readonly databaseUrl: string | undefined
  /** Undefined for databaseUrl; off disables notifications. */
  readonly databaseListenUrl: string | undefined
  readonly databasePoolMax: number
  readonly isPreparing: boolean
  readonly masterKey: Buffer | undefined
  /** Older keys, which open secrets but seal none. */
  readonly otherMasterKeys: readonly Buffer[]
  readonly masterKeyFile: string | undefined
  /** The password of the first operator, whom the first start creates. */
  readonly operatorPassword: string | undefined
  /** As shown to consumers. */
  readonly operator: OperatorSettings
  readonly trustedProxies: readonly string[]
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly requestsInFlightMax: number
  /** Roles whose operators must have a second step. */
  readonly secondStepRoles: readonly Role[]
  /** The operators' identity provider; undefined for passwords only. */
  readonly openId: OpenIdSettings | undefined
  /** The members' identity provider; undefined for passwords only. */
  readonly memberOpenId: Omit<OpenIdSettings, 'rolesByGroup'> | undefined
  /** What needs a second operator's approval. */
  readonly approvals: ApprovalPolicy
  readonly bankAccountWaitMs: number
  /** Limits of wallets without their own. */
  readonly walletLimits: DefaultLimits
  /** What a wallet's code pays without the owner's confirmation, by currency. */
  readonly scanLimits: ReadonlyMap<string, bigint>
  /** What consumers may withdraw without an operator's review, by currency. */
  readonly withdrawalLimits: ReadonlyMap<string, bigint> | undefined
  readonly callbackHostsPerDay: number
  readonly callbackAllowedTargets: readonly string[]
  readonly callbackExtraCaFile: string | undefined
  readonly callbackHistoryDays: number
  /** Zero disables the feed. */
  readonly eventFeedDays: number
  /** If undefined, personal data in orders is kept. */
  readonly personalDataDays: number | undefined
  readonly lateMoney: 'refund' | 'hold'
  /** How long an authorized payment can be captured. */
  readonly authorizationMs: number
  readonly callbacksInFlight: number
  readonly callbacksInFlightPerHost: number
  readonly callbacksInFlightPerMerchant: number
  /** Undefined disables email. */
  readonly mail: MailSettings | undefined
  /** Recipients of alerts for operators. */
  readonly operatorEmails: readonly string[]
  /** Undefined disables the demo shop. */
  readonly shopPort: number | undefined
  /** Undefined disables the test bank. */
  readonly railPort: number | undefined
  readonly sandboxMerchantsPerDay: number
  readonly hasPortal: boolean
  /** Whether strangers may apply for live keys. */
  readonly takesApplications: boolean
  readonly hasWalletPages: boolean
  /** Whether strangers may create a wallet. */
  readonly takesRegistrations: boolean
  /** Undefined disables tracing. */
  readonly traceEndpoint: string | undefined
  readonly traceRatio: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly logFormat: 'auto' | 'json' | 'pretty'
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
  /** In addition to the required scopes. */
  readonly scopes: readonly string[]
  /** If undefined, roles stay as assigned. */
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

type Given = Values<typeof settings>

export function readConfig(environment: Environment, dotEnv = ''): Config {
  const texts = givenTexts(settings, environment, dotEnv)
  const { values, problems } = parseTable(settings, texts)
  const config = configOf(values, texts)
  const all = [...misspelledNames(dotEnv), ...problems]
  for (const check of checks) all.push(...check({ values, config, texts, problems }))
  if (all.length > 0) throw new ConfigurationFailure(all)
  // Safe: a setting with a default is undefined only if it was rejected, and then we have thrown.
  return Object.freeze(config) as Config
}

function misspelledNames(dotEnv: string): Problem[] {
  return Object.keys(parseEnv(dotEnv)).flatMap((name) => {
    const nearest = Object.hasOwn(settings, name) ? undefined : nearestSetting(name)
    if (!nearest?.isLike) return []
    return [{ name, problem: `in .env is not a setting of Tillgate; did you mean ${nearest.name}?` }]
  })
}

function configOf(given: Given, texts: Environment) {
  const { MODE: mode, PUBLIC_URL: publicUrl, HSTS_SECONDS: hstsSeconds } = given
  const [masterKey, ...otherMasterKeys] = given.MASTER_KEY ?? []
  const hasWalletPages = given.WALLET === 'on'
  const host = given.HOST ?? (mode === 'live' ? '0.0.0.0' : 'localhost')
  const isHttpsAlone = mode === 'live' && publicUrl?.startsWith('https:') && hstsSeconds !== 'off'
  const openId = openIdOf(given)
  return {
    mode,
    isModeGiven: Boolean(texts['MODE']),
    processes: given.PROCESSES,
    roles: Object.freeze(given.ROLES ?? []),
    publicListener: Object.freeze({ host, port: given.PORT }),
    adminListener: Object.freeze({ host: given.ADMIN_HOST, port: given.ADMIN_PORT }),
    publicUrl,
    hsts: isHttpsAlone ? `max-age=${hstsSeconds}` : undefined,
    adminNames: Object.freeze(given.ADMIN_NAMES ?? []),
    metricsToken: given.METRICS_TOKEN,
    dataDir: given.DATA_DIR,
    databaseUrl: given.DATABASE_URL,
    databaseListenUrl: given.DATABASE_LISTEN_URL,
    databasePoolMax: given.DATABASE_POOL,
    isPreparing: given.DATABASE_PREPARED,
    masterKey,
    otherMasterKeys: Object.freeze(otherMasterKeys),
    masterKeyFile: given.MASTER_KEY_FILE,
    operatorPassword: given.OPERATOR_PASSWORD,
    operator: Object.freeze({
      name: given.OPERATOR_NAME,
      logoFile: given.OPERATOR_LOGO_FILE,
      helpUrl: given.OPERATOR_HELP_URL,
      privacyUrl: given.OPERATOR_PRIVACY_URL,
      imprintUrl: given.OPERATOR_IMPRINT_URL,
      place: given.OPERATOR_PLACE,
    }),
    trustedProxies: Object.freeze(given.TRUSTED_PROXIES ?? []),
    merchantRequestsPerSecond: given.MERCHANT_REQUESTS_PER_SECOND,
    failedOpeningsPerMinute: given.FAILED_OPENINGS_PER_MINUTE,
    requestsInFlightMax: given.REQUESTS_IN_FLIGHT,
    secondStepRoles: Object.freeze(given.SECOND_STEP_FOR ?? []),
    ...openId,
    approvals: Object.freeze({
      refundLimits: given.APPROVAL_REFUND_ABOVE,
      words: given.APPROVAL_FOR ?? [],
      lifeMs: (given.APPROVAL_HOURS ?? 0) * hourMs,
    }),
    bankAccountWaitMs: (given.BANK_ACCOUNT_WAIT_HOURS ?? 0) * hourMs,
    walletLimits: Object.freeze({
      payment: given.WALLET_PAYMENT_LIMIT,
      day: given.WALLET_DAY_LIMIT,
      balance: given.WALLET_BALANCE_LIMIT,
    }),
    scanLimits: given.SCAN_LIMIT ?? new Map(),
    withdrawalLimits: given.WITHDRAWALS_UP_TO,
    callbackHostsPerDay: given.CALLBACK_HOSTS_PER_DAY,
    callbackAllowedTargets: Object.freeze(given.CALLBACK_ALLOWED_TARGETS ?? []),
    callbackExtraCaFile: given.CALLBACK_EXTRA_CA_FILE,
    callbackHistoryDays: given.CALLBACK_HISTORY_DAYS,
    eventFeedDays: given.EVENT_FEED_DAYS,
    personalDataDays: given.PERSONAL_DATA_DAYS,
    lateMoney: given.LATE_MONEY,
    authorizationMs: (given.AUTHORIZATION_DAYS ?? 7) * 24 * 60 * 60_000,
    callbacksInFlight: given.CALLBACKS_IN_FLIGHT,
    callbacksInFlightPerHost: given.CALLBACKS_IN_FLIGHT_PER_HOST,
    callbacksInFlightPerMerchant: given.CALLBACKS_IN_FLIGHT_PER_MERCHANT,
    mail: mailOf(given),
    operatorEmails: Object.freeze(given.OPERATOR_EMAILS ?? []),
    shopPort: given.SHOP_PORT,
    railPort: given.RAIL_PORT,
    sandboxMerchantsPerDay: given.SANDBOX_MERCHANTS_PER_DAY,
    hasPortal: given.PORTAL === 'on',
    takesApplications: given.APPLICATIONS === 'on',
    hasWalletPages,
    takesRegistrations:
      given.REGISTRATION === undefined ? mode === 'sandbox' && hasWalletPages : given.REGISTRATION === 'on',
    traceEndpoint: given.OTEL_EXPORTER_OTLP_ENDPOINT,
    traceRatio: given.OTEL_TRACES_SAMPLER_ARG,
    logLevel: given.LOG_LEVEL,
    logFormat: given.LOG_FORMAT,
  }
}

function openIdOf(given: Given) {
  const { OIDC_ROLES: rolesByGroup = new Map(), OIDC_ROLE_CLAIM: roleClaim } = given
  const provider = providerOf(given, 'OIDC')
  const ofMembers = providerOf(given, 'MEMBER_OIDC')
  return {
    openId:
      provider && Object.freeze({ ...provider, rolesByGroup, roleClaim: given.OIDC_ROLES && roleClaim }),
    memberOpenId: ofMembers && Object.freeze({ ...ofMembers, roleClaim: undefined }),
  }
}

function providerOf(given: Given, prefix: ProviderPrefix) {
  const { issuer, clientId, clientSecret } = providerGiven(given, prefix)
  const scopes = given[`${prefix}_SCOPES`] ?? []
  return issuer && clientId && clientSecret ? { issuer, clientId, clientSecret, scopes } : undefined
}

function mailOf({ MODE: mode, SMTP_URL: server, SMTP_FROM: sender, OPERATOR_NAME: operator }: Given) {
  if (!server || !sender) return undefined
  const from = { ...sender, name: sender.name || (operator ?? '') }
  const isTlsNeeded = mode === 'live' && !server.isSecure && !isThisMachine(server.host)
  return Object.freeze({ ...server, isTlsNeeded, from })
}

type ProviderPrefix = 'OIDC' | 'MEMBER_OIDC'

function providerGiven(given: Given, prefix: ProviderPrefix) {
  return {
    issuer: given[`${prefix}_ISSUER`],
    clientId: given[`${prefix}_CLIENT_ID`],
    clientSecret: given[`${prefix}_CLIENT_SECRET`],
  }
}

interface Read {
  readonly values: Given
  readonly config: ReturnType<typeof configOf>
  readonly texts: Environment
  /** The problems of single settings. */
  readonly problems: readonly Problem[]
}

/** Checks across settings, in the order in which an operator reads the problems. */
const checks: readonly ((read: Read) => readonly Problem[])[] = [
  portsDiffer,
  masterKeyHasOnePlace,
  applicationsArePossible,
  registrationIsPossible,
  (read) => providerIsWhole(read, 'OIDC'),
  (read) => providerIsWhole(read, 'MEMBER_OIDC'),
  mailHasSender,
  liveIsWhole,
]

function portsDiffer({ values: { PORT, ADMIN_PORT } }: Read): readonly Problem[] {
  if (PORT === undefined || PORT === 0 || PORT !== ADMIN_PORT) return []
  return [{ name: 'ADMIN_PORT', problem: `is ${PORT}, which PORT already uses`, example: '8081' }]
}

function masterKeyHasOnePlace({ config: { masterKey, masterKeyFile } }: Read): readonly Problem[] {
  if (!masterKey || !masterKeyFile) return []
  return [{ name: 'MASTER_KEY_FILE', problem: 'and MASTER_KEY are both set; keep only one of them' }]
}

function applicationsArePossible({ config }: Read): readonly Problem[] {
  if (!config.takesApplications || (config.mode === 'live' && config.hasPortal)) return []
  return [
    {
      name: 'APPLICATIONS',
      problem:
        'is on, which needs MODE=live and PORTAL=on; in the sandbox, newcomers request access at /sandbox',
    },
  ]
}

function registrationIsPossible({ config }: Read): readonly Problem[] {
  const { mode, mail, hasWalletPages, takesRegistrations } = config
  if (!takesRegistrations || (hasWalletPages && (mail || mode !== 'live'))) return []
  return [
    {
      name: 'REGISTRATION',
      problem: 'is on, which needs WALLET=on, and in live SMTP_URL for the codes that confirm a login',
    },
  ]
}

function providerIsWhole({ values }: Read, prefix: ProviderPrefix): readonly Problem[] {
  const { issuer, clientId, clientSecret } = providerGiven(values, prefix)
  const missing = {
    name: clientId ? `${prefix}_CLIENT_SECRET` : `${prefix}_CLIENT_ID`,
    problem: `must be set with ${prefix}_ISSUER`,
    example: settings[`${prefix}_CLIENT_ID`].example,
  }
  const isOpen = values.MODE === 'live' && issuer?.startsWith('http:')
  return [
    ...(issuer && !(clientId && clientSecret) ? [missing] : []),
    ...(isOpen ? [{ name: `${prefix}_ISSUER`, problem: 'must be https in live mode' }] : []),
  ]
}

function mailHasSender({ values: { SMTP_URL, SMTP_FROM }, problems }: Read): readonly Problem[] {
  if (!SMTP_URL || SMTP_FROM || problems.some(({ name }) => name === 'SMTP_FROM')) return []
  return [
    {
      name: 'SMTP_FROM',
      problem: 'must be set with SMTP_URL: it is the sender of emails',
      example: settings.SMTP_FROM.example,
    },
  ]
}

function liveIsWhole({ values, texts }: Read): readonly Problem[] {
  if (values.MODE !== 'live') return []
  const missing = missingForLive(values)
  const examples = settingNames.flatMap((name) => exampleProblem(name, texts[name]) ?? [])
  // Only the database can show whether the password is needed. If other required settings are missing, this is probably
  // the first start.
  const isFirstStart = missing.length > 0 && values.OPERATOR_PASSWORD === undefined
  return [...missing, ...examples, ...(isFirstStart ? [operatorPasswordMissing] : [])]
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function missingForLive(given: Given): Problem[] {
  const missing: Problem[] = []
  if (!given.PUBLIC_URL?.startsWith('https://'))
    missing.push({
      name: 'PUBLIC_URL',
      problem: 'must be a public https address in live mode',
      example: settings.PUBLIC_URL.example,
    })
  if (!given.MASTER_KEY && !given.MASTER_KEY_FILE)
    missing.push({
      name: 'MASTER_KEY',
      problem: 'or MASTER_KEY_FILE must be set in live mode; generate a key with: openssl rand -base64 32',
    })
  // Without it, every consumer has the proxy's address, and the rate limit for one blocks all.
  if (!given.TRUSTED_PROXIES)
    missing.push({
      name: 'TRUSTED_PROXIES',
      problem: 'must be the address of the https proxy in front of the gateway, or "none"',
      example: settings.TRUSTED_PROXIES.example,
    })
  return missing
}

const settingNames = Object.keys(settings) as SettingName[]

function exampleProblem(name: SettingName, written = '', where: SettingName = name): Problem | undefined {
  const { isSecret, example } = settings[name]
  // Checks each of several master keys.
  if (!isSecret || !written.split(/[\s,]+/).includes(example)) return undefined
  return { name: where, problem: 'is or contains a published example; generate your own' }
}

/** The keys of a file are known only after it is read. */
export function refuseExampleKeys({ mode }: Pick<Config, 'mode'>, keys: readonly Buffer[]): void {
  const written = keys.map((key) => key.toString('base64')).join()
  const problem = exampleProblem('MASTER_KEY', written, 'MASTER_KEY_FILE')
  if (mode === 'live' && problem) throw new ConfigurationFailure([problem])
}

/** For a live gateway without an operator. */
export const operatorPasswordMissing: Problem = {
  name: 'OPERATOR_PASSWORD',
  problem: 'must be set at the first start in live mode: it is the password of the first operator, admin',
  example: settings.OPERATOR_PASSWORD.example,
}
