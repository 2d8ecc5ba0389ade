// Every setting of the gateway: name, meaning, default and parser. The parser, `.env.example` and the documentation
// come from this table.
import { resolve } from 'node:path'
import { roles } from '../../core/authority/rules/roles.ts'
import { parseMasterKeys } from '../../platform/runtime/secrets/master-keys.ts'
import { setting } from '../../platform/settings/settings-table.ts'
import {
  addressRanges,
  allowedTargets,
  amountsByCurrency,
  approvalEffects,
  databaseAddress,
  emailAddress,
  emvPlace,
  hostNames,
  integer,
  mailServer,
  oneOf,
  openIdScopes,
  operatorPassword,
  pageAddress,
  parseGatewayRoles,
  port,
  portOrOff,
  processes,
  rolesByGroup,
  sender,
  share,
  text,
  token,
  webAddress,
} from './parsers.ts'

export const settings = {
  MODE: setting({
    about:
      'sandbox: test money and ready-made test wallets. live: real money; refuses to start with an incomplete configuration. The first start writes the mode into the database, which then rejects the other one.',
    fallback: 'sandbox',
    example: 'live',
    parse: oneOf('sandbox', 'live'),
  }),
  PROCESSES: setting({
    about: 'Number of processes on this machine, under one that restarts them. auto: one per core.',
    fallback: '1',
    example: 'auto',
    parse: processes,
  }),
  ROLES: setting({
    about:
      'The roles of this gateway, separated by commas. api: merchant API, checkout, console. worker: expiry, payment processing, callbacks. Without api, only health and metrics on the admin listener.',
    fallback: 'api,worker',
    example: 'worker',
    parse: parseGatewayRoles,
  }),
  PORT: setting({
    about: 'The public listener: merchant API and checkout.',
    fallback: '8080',
    example: '8080',
    parse: port,
  }),
  HOST: setting({
    about:
      'The address of the public listener. Default: 0.0.0.0 in live; localhost in the sandbox, so that only this machine can reach it.',
    fallback: '',
    example: '0.0.0.0',
    parse: text,
  }),
  ADMIN_PORT: setting({
    about: 'The admin listener: console, admin API, metrics, health.',
    fallback: '8081',
    example: '8081',
    parse: port,
  }),
  ADMIN_HOST: setting({
    about: 'The address of the admin listener. Keep it private.',
    fallback: '127.0.0.1',
    example: '10.0.0.5',
    parse: text,
  }),
  ADMIN_NAMES: setting({
    about:
      'Further host names of the admin listener, separated by commas. localhost, ADMIN_HOST and numeric addresses are always accepted; requests for other names are rejected.',
    fallback: '',
    example: 'console.internal,tillgate-admin',
    parse: hostNames,
  }),
  METRICS_TOKEN: setting({
    about:
      'The bearer token for /metrics on the admin listener. If not set, live serves no metrics, and the sandbox serves them without a token.',
    fallback: '',
    example: 'e3b0c44298fc1c149afbf4c8996fb924',
    isSecret: true,
    parse: token,
  }),
  PUBLIC_URL: setting({
    about:
      'The public address of this gateway, with which checkout links start. Default: http://localhost:PORT. Live requires https.',
    fallback: '',
    example: 'https://pay.example.com',
    parse: webAddress,
  }),
  HSTS_SECONDS: setting({
    about:
      'How long browsers use only https for the host of PUBLIC_URL, on all ports: max-age of the Strict-Transport-Security header on the public listener in live. 0: browsers forget it. off: the header is not sent.',
    fallback: '31536000',
    example: '86400',
    parse: (value) => (value === 'off' ? value : integer({ from: 0, to: 63_072_000 })(value)),
  }),
  DATA_DIR: setting({
    about: 'The folder for all data on this machine.',
    fallback: './data',
    example: '/var/lib/tillgate',
    parse: (value) => resolve(value),
  }),
  DATABASE_URL: setting({
    about:
      'Your own PostgreSQL, version 15 or newer. If not set, the gateway runs a private one under DATA_DIR. With a primary and standbys (postgres://user@one,two/name), the gateway uses the one that accepts writes.',
    fallback: '',
    example: 'postgres://tillgate:secret@db.internal:5432/tillgate',
    isSecret: true,
    parse: databaseAddress,
  }),
  DATABASE_LISTEN_URL: setting({
    about:
      'The address for notifications between processes: the same database, but not through a transaction pooler such as PgBouncer. Default: DATABASE_URL. off: processes check for work every second instead.',
    fallback: '',
    example: 'postgres://tillgate:secret@db.internal:5432/tillgate',
    isSecret: true,
    parse: (value) => (value === 'off' ? value : databaseAddress(value)),
  }),
  DATABASE_POOL: setting({
    about: 'Maximum number of database connections per gateway process.',
    fallback: '10',
    example: '20',
    parse: integer({ from: 2, to: 500 }),
  }),
  DATABASE_PREPARED: setting({
    about:
      'on: statements are prepared once per connection. off: for a PgBouncer older than 1.21 or without max_prepared_statements.',
    fallback: 'on',
    example: 'off',
    parse: (value) => oneOf('on', 'off')(value) === 'on',
  }),
  MASTER_KEY: setting({
    about:
      'Encrypts the secrets in the database: 32 random bytes in base64 (openssl rand -base64 32). The sandbox generates one under DATA_DIR. During a rotation, several keys separated by commas: the first seals, all of them open.',
    fallback: '',
    example: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=',
    isSecret: true,
    parse: parseMasterKeys,
  }),
  MASTER_KEY_FILE: setting({
    about: 'A file with the master key, instead of MASTER_KEY; during a rotation, one key per line.',
    fallback: '',
    example: '/run/secrets/tillgate-master-key',
    parse: text,
  }),
  OPERATOR_PASSWORD: setting({
    about:
      'The password of the first operator, admin, whom the first start creates. Later starts ignore it. The sandbox generates one and shows it once.',
    fallback: '',
    example: 'correct-horse-battery-staple',
    isSecret: true,
    parse: operatorPassword,
  }),
  OPERATOR_NAME: setting({
    about: 'The operator’s name for consumers, on the checkout and on payment links.',
    fallback: '',
    example: 'Example Wallet',
    parse: text,
  }),
  OPERATOR_LOGO_FILE: setting({
    about: 'The logo beside OPERATOR_NAME: a file with a square SVG image of at most 64 KiB.',
    fallback: '',
    example: '/etc/tillgate/mark.svg',
    parse: text,
  }),
  OPERATOR_HELP_URL: setting({
    about:
      'The help page for consumers: an https address, or mailto: with an email address. Linked from the checkout.',
    fallback: '',
    example: 'https://wallet.example/help',
    parse: pageAddress,
  }),
  OPERATOR_PRIVACY_URL: setting({
    about: 'The privacy notice for consumers. Linked from the checkout.',
    fallback: '',
    example: 'https://wallet.example/privacy',
    parse: pageAddress,
  }),
  OPERATOR_IMPRINT_URL: setting({
    about: 'The operator’s legal notice. Linked from the checkout.',
    fallback: '',
    example: 'https://wallet.example/imprint',
    parse: pageAddress,
  }),
  OPERATOR_PLACE: setting({
    about: 'The country code (ISO 3166) and city in EMV QR codes.',
    fallback: 'ZZ Online',
    example: 'DE Berlin',
    parse: emvPlace,
  }),
  TRUSTED_PROXIES: setting({
    about:
      'Addresses or ranges of reverse proxies whose X-Forwarded-For is trusted, separated by commas; none if there is no proxy. Required in live.',
    fallback: '',
    example: '10.0.0.0/8,192.168.1.7',
    parse: addressRanges,
  }),
  MERCHANT_REQUESTS_PER_SECOND: setting({
    about:
      'Requests per second that a merchant may send to one gateway process, unless the merchant has its own limit.',
    fallback: '200',
    example: '1000',
    parse: integer({ from: 1, to: 1_000_000 }),
  }),
  FAILED_OPENINGS_PER_MINUTE: setting({
    about:
      'Requests per minute that one address may send without a valid envelope before it is blocked. A request rejected for its form, method or age counts as a tenth; a body that never arrives counts as one per 5 seconds.',
    fallback: '60',
    example: '600',
    parse: integer({ from: 1, to: 1_000_000 }),
  }),
  REQUESTS_IN_FLIGHT: setting({
    about: 'Maximum number of merchant requests in progress; further ones are answered with 50300.',
    fallback: '1000',
    example: '2000',
    parse: integer({ from: 1, to: 100_000 }),
  }),
  SECOND_STEP_FOR: setting({
    about:
      'Roles that must use a code from an app at sign-in, separated by commas: admin, operator, viewer. For other roles it is optional.',
    fallback: '',
    example: 'admin,operator',
    parse: (value) => value.split(',').map((role) => oneOf(...roles)(role.trim())),
  }),
  OIDC_ISSUER: setting({
    about:
      'The identity provider (OpenID Connect) of operators who were added with an email address. Register it with the console’s redirect address: …/sign-in/provider/callback. Live requires https.',
    fallback: '',
    example: 'https://login.example.com/realms/staff',
    parse: webAddress,
  }),
  OIDC_CLIENT_ID: setting({
    about: 'The client id of this gateway at the identity provider.',
    fallback: '',
    example: 'tillgate',
    parse: text,
  }),
  OIDC_CLIENT_SECRET: setting({
    about: 'The client secret from the identity provider.',
    fallback: '',
    example: 'b7f0c1d9e8a24f6f9a3c5d7e1f2a4b6c',
    isSecret: true,
    parse: text,
  }),
  MEMBER_OIDC_ISSUER: setting({
    about:
      'The identity provider of merchants’ members who were invited by their address there. Register it with the redirect address …/merchant/sign-in/provider/callback. Live requires https.',
    fallback: '',
    example: 'https://login.example.com/realms/merchants',
    parse: webAddress,
  }),
  MEMBER_OIDC_CLIENT_ID: setting({
    about: 'The client id of this gateway at that identity provider.',
    fallback: '',
    example: 'tillgate-portal',
    parse: text,
  }),
  MEMBER_OIDC_CLIENT_SECRET: setting({
    about: 'The client secret from that identity provider.',
    fallback: '',
    example: 'c8e1d2f0a9b35a7c8b4d6e9f2a3b5c7d',
    isSecret: true,
    parse: text,
  }),
  OIDC_SCOPES: setting({
    about:
      'Additional scopes for the operators’ identity provider besides openid, email and profile, separated by spaces or commas. Some providers need one to send groups.',
    fallback: '',
    example: 'groups',
    parse: openIdScopes,
  }),
  MEMBER_OIDC_SCOPES: setting({
    about: 'Additional scopes for the members’ identity provider.',
    fallback: '',
    example: 'offline_access',
    parse: openIdScopes,
  }),
  OIDC_ROLE_CLAIM: setting({
    about: 'The claim of the ID token that contains roles, mapped by OIDC_ROLES.',
    fallback: 'groups',
    example: 'roles',
    parse: text,
  }),
  OIDC_ROLES: setting({
    about:
      'Roles by values of the claim, separated by commas; applied at every sign-in. An operator without a role cannot sign in. If not set, roles stay as assigned.',
    fallback: '',
    example: 'tillgate-admins=admin,tillgate-staff=viewer',
    parse: rolesByGroup,
  }),
  APPROVAL_REFUND_ABOVE: setting({
    about:
      'The amount per order that operators may refund without approval, by currency; a currency that is not listed has no allowance. If not set: any amount, unless APPROVAL_FOR contains money-out; then every refund needs approval. Merchants’ own refunds never need it.',
    fallback: '',
    example: '500 USD,450 EUR,75000 JPY',
    parse: amountsByCurrency,
  }),
  APPROVAL_FOR: setting({
    about:
      'Effects that need a second operator, separated by commas: money-in (credits a merchant or a wallet), money-out (sends money out; refunds up to APPROVAL_REFUND_ABOVE are exempt), destination (sets where money goes: bank accounts, rail addresses), access (gives access to money: keys, PIN resets, members, operators, tokens, webhook endpoints). SECURITY.md lists every action with its effects. Earlier words still work and cover the whole effect: payout, top-up, correction, transfer, bank-account, key, callback-hosts, member.',
    fallback: '',
    example: 'money-in,money-out,destination,access',
    parse: approvalEffects,
  }),
  APPROVAL_HOURS: setting({
    about: 'How long a request waits for a second operator before it expires.',
    fallback: '72',
    example: '24',
    parse: integer({ from: 1, to: 720 }),
  }),
  BANK_ACCOUNT_WAIT_HOURS: setting({
    about:
      'The waiting time before payouts go to a merchant’s new bank account, so that the merchant can object.',
    fallback: '24',
    example: '72',
    parse: integer({ from: 0, to: 720 }),
  }),
  WALLET_PAYMENT_LIMIT: setting({
    about: 'Default maximum of a wallet payment, per currency.',
    fallback: '',
    example: '500 EUR,500 USD',
    parse: amountsByCurrency,
  }),
  WALLET_DAY_LIMIT: setting({
    about: 'Default maximum of a wallet’s payments per day (UTC), per currency.',
    fallback: '',
    example: '1000 EUR,1000 USD',
    parse: amountsByCurrency,
  }),
  WALLET_BALANCE_LIMIT: setting({
    about: 'Default maximum balance of a wallet after a top-up, per currency. Refunds are always credited.',
    fallback: '',
    example: '2500 EUR,2500 USD',
    parse: amountsByCurrency,
  }),
  SCAN_LIMIT: setting({
    about:
      'The amount that a scanned wallet code pays at once, per currency. Above it, and in other currencies, the consumer confirms the payment.',
    fallback: '50 EUR,50 USD,50 GBP,50 CHF,300 CNY,5000 JPY',
    example: '25 EUR,25 USD',
    parse: amountsByCurrency,
  }),
  WITHDRAWALS_UP_TO: setting({
    about:
      'The amount that a wallet may withdraw in 24 hours without review, in the next payout run. Each withdrawal beyond the limit, or in another currency, is a separate run that an operator sends or cancels.',
    fallback: '',
    example: '200 EUR,200 USD',
    parse: amountsByCurrency,
  }),
  CALLBACK_HOSTS_PER_DAY: setting({
    about:
      'Number of different callback hosts that a merchant may use in 24 hours before 40301; 0 disables the limit.',
    fallback: '20',
    example: '5',
    parse: integer({ from: 0, to: 100_000 }),
  }),
  CALLBACK_ALLOWED_TARGETS: setting({
    about:
      'Internal targets that callbacks may reach in live, although they are not public: names, name:port, addresses or ranges, separated by commas.',
    fallback: '',
    example: 'erp.internal:8443,10.20.0.0/16',
    parse: allowedTargets,
  }),
  CALLBACK_EXTRA_CA_FILE: setting({
    about: 'A file of certificates (PEM) that callbacks trust in addition to the system’s.',
    fallback: '',
    example: '/etc/tillgate/internal-ca.pem',
    parse: text,
  }),
  CALLBACK_HISTORY_DAYS: setting({
    about:
      'Days for which callback attempts and texts are kept. Attempts are deleted by whole months, up to 30 days later.',
    fallback: '90',
    example: '365',
    // Longer than a callback can wait: seven days of retries, and as many behind a paused host.
    parse: integer({ from: 15, to: 3_650 }),
  }),
  EVENT_FEED_DAYS: setting({
    about:
      'Days for which the event feed (GET /api/admin/v1/events) is kept for the operator’s own systems. 0 disables it. Must be the same in every process.',
    fallback: '0',
    example: '14',
    parse: integer({ from: 0, to: 3_650 }),
  }),
  PERSONAL_DATA_DAYS: setting({
    about:
      'Days after which recipients’ names and addresses and the descriptions of orders are erased. Amounts, numbers and goods stay. If not set, they are kept.',
    fallback: '',
    example: '180',
    // Longer than an order can be open and its callbacks are retried.
    parse: integer({ from: 30, to: 36_500 }),
  }),
  AUTHORIZATION_DAYS: setting({
    about:
      'Days for which the consumer’s money is held for an order with captureMode manual. Then the rest is released.',
    fallback: '7',
    example: '14',
    parse: integer({ from: 1, to: 30 }),
  }),
  LATE_MONEY: setting({
    about:
      'What happens to money that arrives through a rail after its order has ended: "refund" returns it through the rail, "hold" keeps it in suspense for an operator.',
    fallback: 'refund',
    example: 'hold',
    parse: oneOf('refund', 'hold'),
  }),
  CALLBACKS_IN_FLIGHT: setting({
    about: 'Callbacks that one gateway process sends at the same time.',
    fallback: '1024',
    example: '256',
    parse: integer({ from: 8, to: 20_000 }),
  }),
  CALLBACKS_IN_FLIGHT_PER_HOST: setting({
    about: 'Maximum number of these to one host. A new, slow or failing host gets fewer.',
    // Callbacks that wait for a signature count too. With a smaller value, the worker claims in small batches, each
    // with its own commit.
    fallback: '192',
    example: '32',
    parse: integer({ from: 1, to: 5_000 }),
  }),
  CALLBACKS_IN_FLIGHT_PER_MERCHANT: setting({
    about: 'Maximum number of these of one merchant.',
    fallback: '256',
    example: '64',
    parse: integer({ from: 1, to: 5_000 }),
  }),
  SMTP_URL: setting({
    about:
      'The mail server: smtps:// uses TLS, smtp:// STARTTLS, which live requires unless the server is this machine. If not set, no email is sent, and operators hand over one-time links.',
    fallback: '',
    example: 'smtps://tillgate:secret@mail.example.com:465',
    isSecret: true,
    parse: mailServer,
  }),
  SMTP_FROM: setting({
    about:
      'The sender of emails: an address, or a name with the address in angle brackets. Without a name, OPERATOR_NAME is used.',
    fallback: '',
    example: 'Example Pay <no-reply@pay.example.com>',
    parse: sender,
  }),
  OPERATOR_EMAILS: setting({
    about: 'Recipients of alerts such as late money or a waiting approval; addresses separated by commas.',
    fallback: '',
    example: 'payments@example.com',
    parse: (value) => value.split(',').map(emailAddress),
  }),
  SHOP_PORT: setting({
    about: 'The port of the sandbox’s demo shop. off: no demo shop.',
    fallback: '8082',
    example: 'off',
    parse: portOrOff,
  }),
  RAIL_PORT: setting({
    about: 'The port of the sandbox’s test bank, which is a rail. off: no test bank.',
    fallback: '8083',
    example: 'off',
    parse: portOrOff,
  }),
  SANDBOX_MERCHANTS_PER_DAY: setting({
    about:
      'Number of newcomers who may get sandbox access in 24 hours; 0 disables the page. Not available in live.',
    fallback: '200',
    example: '20',
    parse: integer({ from: 0, to: 100_000 }),
  }),
  PORTAL: setting({
    about:
      'The portal at /merchant on the public listener, where merchants’ members sign in. off: no portal.',
    fallback: 'on',
    example: 'off',
    parse: oneOf('on', 'off'),
  }),
  APPLICATIONS: setting({
    about:
      'on: businesses can apply for live keys at /merchant/apply, and operators decide in the console. Needs MODE=live and the portal.',
    fallback: 'off',
    example: 'on',
    parse: oneOf('on', 'off'),
  }),
  WALLET: setting({
    about: 'The wallet at /wallet on the public listener, where consumers sign in. off: no wallet pages.',
    fallback: 'on',
    example: 'off',
    parse: oneOf('on', 'off'),
  }),
  REGISTRATION: setting({
    about:
      'on: consumers can create a wallet at /wallet/register; a code by email confirms the login. Needs WALLET=on, and in live SMTP_URL. Default: off in live; on in the sandbox, which shows the code if no email is sent.',
    fallback: '',
    example: 'on',
    parse: oneOf('on', 'off'),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    about:
      'An OpenTelemetry collector that accepts traces over HTTP, without /v1/traces. If not set, tracing is disabled.',
    fallback: '',
    example: 'http://127.0.0.1:4318',
    parse: webAddress,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    about: 'The share of recorded traces, from 0 to 1. A request with a traceparent follows its flag.',
    fallback: '1',
    example: '0.01',
    parse: share,
  }),
  LOG_LEVEL: setting({
    about: 'The log level. debug also logs every successful request.',
    fallback: 'info',
    example: 'debug',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  }),
  LOG_FORMAT: setting({
    about: 'auto: text on a terminal, JSON lines elsewhere.',
    fallback: 'auto',
    example: 'json',
    parse: oneOf('auto', 'json', 'pretty'),
  }),
} as const

export type SettingName = keyof typeof settings
