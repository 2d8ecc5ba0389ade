// Every setting of the gateway: name, meaning, default and parser. The parser, `.env.example` and the documentation
// come from this table.
import { resolve } from 'node:path'
import { roles } from '../../core/audit/rules/roles.ts'
import { parseMasterKeys } from '../../platform/runtime/secrets/master-keys.ts'
import { setting } from '../../platform/settings/settings-table.ts'
import {
  addressRanges,
  allowedTargets,
  amountsByCurrency,
  approvalEffects,
  databaseAddress,
  emailAddress,
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
      'sandbox: test money, ready-made test wallets. live: real money; refuses to start half configured. The first start writes it into the database, which then refuses the other one.',
    fallback: 'sandbox',
    example: 'live',
    parse: oneOf('sandbox', 'live'),
  }),
  PROCESSES: setting({
    about:
      'How many processes serve on this machine, under one that keeps them running. auto: one for each core.',
    fallback: '1',
    example: 'auto',
    parse: processes,
  }),
  ROLES: setting({
    about:
      'What this gateway does, separated by commas. api: merchant API, checkout, console. worker: expiry, settlement, callbacks. Without api it serves health and metrics on the admin listener alone.',
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
      'The address that the public listener binds to. Default: 0.0.0.0 in live; in the sandbox localhost, so that nobody else reaches it.',
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
    about: 'The address that the admin listener binds to. Keep it private.',
    fallback: '127.0.0.1',
    example: '10.0.0.5',
    parse: text,
  }),
  ADMIN_NAMES: setting({
    about:
      'Host names by which the admin listener is reached, separated by commas, beside localhost, ADMIN_HOST and addresses in numbers. Requests by other names are refused.',
    fallback: '',
    example: 'console.internal,tillgate-admin',
    parse: hostNames,
  }),
  METRICS_TOKEN: setting({
    about:
      'Asked for as a bearer token by /metrics on the admin listener. Left out, live serves no metrics, and in the sandbox whoever reaches that listener may read them.',
    fallback: '',
    example: 'e3b0c44298fc1c149afbf4c8996fb924',
    isSecret: true,
    parse: token,
  }),
  PUBLIC_URL: setting({
    about:
      'The address by which consumers reach this gateway; checkout links begin with it. Default: http://localhost:PORT. Live wants https.',
    fallback: '',
    example: 'https://pay.example.com',
    parse: webAddress,
  }),
  HSTS_SECONDS: setting({
    about:
      'How long browsers use https only for the host of PUBLIC_URL, on all of its ports: max-age of the Strict-Transport-Security header, which the public listener sends in live. 0: browsers forget it. off: the header is not sent.',
    fallback: '31536000',
    example: '86400',
    parse: (value) => (value === 'off' ? value : integer({ from: 0, to: 63_072_000 })(value)),
  }),
  DATA_DIR: setting({
    about: 'The folder for everything that is kept on this machine.',
    fallback: './data',
    example: '/var/lib/tillgate',
    parse: (value) => resolve(value),
  }),
  DATABASE_URL: setting({
    about:
      'A PostgreSQL of your own, 15 or newer. Left out, the gateway runs a private one under DATA_DIR. A primary and its standbys: postgres://user@one,two/name; the one that takes writes is used.',
    fallback: '',
    example: 'postgres://tillgate:secret@db.internal:5432/tillgate',
    isSecret: true,
    parse: databaseAddress,
  }),
  DATABASE_LISTEN_URL: setting({
    about:
      'Where a process hears at once of what others did: the same database past a transaction pooler, which PgBouncer is. Left out: DATABASE_URL. off: it looks every second instead.',
    fallback: '',
    example: 'postgres://tillgate:secret@db.internal:5432/tillgate',
    isSecret: true,
    parse: (value) => (value === 'off' ? value : databaseAddress(value)),
  }),
  DATABASE_POOL: setting({
    about: 'The most connections to the database that one gateway process opens.',
    fallback: '10',
    example: '20',
    parse: integer({ from: 2, to: 500 }),
  }),
  DATABASE_PREPARED: setting({
    about:
      'on: statements are planned once a connection. off: behind a PgBouncer older than 1.21, or one without max_prepared_statements.',
    fallback: 'on',
    example: 'off',
    parse: (value) => oneOf('on', 'off')(value) === 'on',
  }),
  MASTER_KEY: setting({
    about:
      'Encrypts the secrets that rest in the database: 32 random bytes in base64 (openssl rand -base64 32). The sandbox makes its own under DATA_DIR. While it is replaced, several separated by commas: the first seals, all of them open.',
    fallback: '',
    example: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=',
    isSecret: true,
    parse: parseMasterKeys,
  }),
  MASTER_KEY_FILE: setting({
    about: 'A file that holds the master key, instead of MASTER_KEY; while it is replaced, one on each line.',
    fallback: '',
    example: '/run/secrets/tillgate-master-key',
    parse: text,
  }),
  OPERATOR_PASSWORD: setting({
    about:
      'The password of the first operator, admin, whom the first start makes; later starts do not look at it. The sandbox makes one and shows it once.',
    fallback: '',
    example: 'correct-horse-battery-staple',
    isSecret: true,
    parse: operatorPassword,
  }),
  OPERATOR_NAME: setting({
    about:
      'Who runs this gateway and its wallets, as consumers know them: stands on the checkout and on payment links.',
    fallback: '',
    example: 'Example Wallet',
    parse: text,
  }),
  OPERATOR_LOGO_FILE: setting({
    about: 'The mark beside OPERATOR_NAME: a file with an SVG image, square, 64 KiB at most.',
    fallback: '',
    example: '/etc/tillgate/mark.svg',
    parse: text,
  }),
  OPERATOR_HELP_URL: setting({
    about:
      'Where consumers get help: an https address, or mailto: with a mail address. Linked from the checkout.',
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
    about: 'Who the operator is, as the law wants it told. Linked from the checkout.',
    fallback: '',
    example: 'https://wallet.example/imprint',
    parse: pageAddress,
  }),
  TRUSTED_PROXIES: setting({
    about:
      'Addresses or ranges of reverse proxies whose X-Forwarded-For is believed, separated by commas; none: there is no proxy. Live wants to be told.',
    fallback: '',
    example: '10.0.0.0/8,192.168.1.7',
    parse: addressRanges,
  }),
  MERCHANT_REQUESTS_PER_SECOND: setting({
    about:
      'How many requests a second a merchant may send to one gateway process, unless set for that merchant.',
    fallback: '200',
    example: '1000',
    parse: integer({ from: 1, to: 1_000_000 }),
  }),
  FAILED_OPENINGS_PER_MINUTE: setting({
    about:
      'How many requests that cannot be opened one address may send in a minute before it is turned away unread. One that is refused for its form, its method or its age counts as a tenth, one whose body never comes as one for each 5 seconds.',
    fallback: '60',
    example: '600',
    parse: integer({ from: 1, to: 1_000_000 }),
  }),
  REQUESTS_IN_FLIGHT: setting({
    about: 'How many merchant requests are worked on at once before further ones are answered 50300.',
    fallback: '1000',
    example: '2000',
    parse: integer({ from: 1, to: 100_000 }),
  }),
  SECOND_STEP_FOR: setting({
    about:
      'Roles whose operators must sign in with a code from an app beside the password, separated by commas: admin, operator, viewer. Everybody may.',
    fallback: '',
    example: 'admin,operator',
    parse: (value) => value.split(',').map((role) => oneOf(...roles)(role.trim())),
  }),
  OIDC_ISSUER: setting({
    about:
      'The identity provider (OpenID Connect) at which operators sign in who were added with an e-mail address. Register it with the redirect address of the console: …/sign-in/provider/callback. Live wants https.',
    fallback: '',
    example: 'https://login.example.com/realms/staff',
    parse: webAddress,
  }),
  OIDC_CLIENT_ID: setting({
    about: 'Who this gateway is at the identity provider.',
    fallback: '',
    example: 'tillgate',
    parse: text,
  }),
  OIDC_CLIENT_SECRET: setting({
    about: 'The secret that the identity provider gave with it.',
    fallback: '',
    example: 'b7f0c1d9e8a24f6f9a3c5d7e1f2a4b6c',
    isSecret: true,
    parse: text,
  }),
  MEMBER_OIDC_ISSUER: setting({
    about:
      'The identity provider at which members of merchants can sign in to the portal, if they were invited by their address there. Register it with the redirect address …/merchant/sign-in/provider/callback. Live wants https.',
    fallback: '',
    example: 'https://login.example.com/realms/merchants',
    parse: webAddress,
  }),
  MEMBER_OIDC_CLIENT_ID: setting({
    about: 'Who this gateway is at that identity provider.',
    fallback: '',
    example: 'tillgate-portal',
    parse: text,
  }),
  MEMBER_OIDC_CLIENT_SECRET: setting({
    about: 'The secret that it gave with it.',
    fallback: '',
    example: 'c8e1d2f0a9b35a7c8b4d6e9f2a3b5c7d',
    isSecret: true,
    parse: text,
  }),
  OIDC_SCOPES: setting({
    about:
      'Scopes that the identity provider of operators is asked for beside openid, email and profile, separated by spaces or commas. Some providers send groups only with a scope of its own.',
    fallback: '',
    example: 'groups',
    parse: openIdScopes,
  }),
  MEMBER_OIDC_SCOPES: setting({
    about: 'The same for the identity provider of members.',
    fallback: '',
    example: 'offline_access',
    parse: openIdScopes,
  }),
  OIDC_ROLE_CLAIM: setting({
    about: 'The claim of the ID token that tells roles, by OIDC_ROLES.',
    fallback: 'groups',
    example: 'roles',
    parse: text,
  }),
  OIDC_ROLES: setting({
    about:
      'Which value of the claim gives which role, separated by commas; looked at whenever somebody signs in. Whoever has none signs in nowhere. Not set: roles are as operators were added.',
    fallback: '',
    example: 'tillgate-admins=admin,tillgate-staff=viewer',
    parse: rolesByGroup,
  }),
  APPROVAL_REFUND_ABOVE: setting({
    about:
      'How much of an order operators may refund without a second operator, by currency; a currency that is not named has no allowance. Not set: any amount, unless APPROVAL_FOR names money-out; then every refund needs approval. Refunds that a merchant makes never wait.',
    fallback: '',
    example: '500 USD,450 EUR,75000 JPY',
    parse: amountsByCurrency,
  }),
  APPROVAL_FOR: setting({
    about:
      'Effects that need a second operator, separated by commas: money-in (credits a merchant or a wallet), money-out (sends money out; refunds up to APPROVAL_REFUND_ABOVE are exempt), destination (names where money goes: bank accounts, rail addresses), access (gives access to money: keys, PIN resets, members, operators, tokens, webhook endpoints). SECURITY.md lists every action with its effects. Earlier words still work and cover the whole effect: payout, top-up, correction, transfer, bank-account, key, callback-hosts, member.',
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
      'How long a merchant’s new bank account waits before payouts go there, so that the merchant can object.',
    fallback: '24',
    example: '72',
    parse: integer({ from: 0, to: 720 }),
  }),
  WALLET_PAYMENT_LIMIT: setting({
    about: 'The most that a wallet pays at once, in each currency, where the wallet has no limit of its own.',
    fallback: '',
    example: '500 EUR,500 USD',
    parse: amountsByCurrency,
  }),
  WALLET_DAY_LIMIT: setting({
    about: 'The most that a wallet pays in a day (UTC), in each currency, where it has no limit of its own.',
    fallback: '',
    example: '1000 EUR,1000 USD',
    parse: amountsByCurrency,
  }),
  WALLET_BALANCE_LIMIT: setting({
    about:
      'The most that top-ups bring a wallet to, in each currency, where it has no limit of its own. Refunds always reach it.',
    fallback: '',
    example: '2500 EUR,2500 USD',
    parse: amountsByCurrency,
  }),
  WITHDRAWALS_UP_TO: setting({
    about:
      'How much a wallet may withdraw in 24 hours without review: these withdrawals go out with the next run of payouts. Each withdrawal beyond the limit, and each one in another currency, is a run of its own that an operator sends or cancels.',
    fallback: '',
    example: '200 EUR,200 USD',
    parse: amountsByCurrency,
  }),
  CALLBACK_HOSTS_PER_DAY: setting({
    about:
      'How many different callback hosts a merchant may use in 24 hours before 40301; 0 turns the limit off.',
    fallback: '20',
    example: '5',
    parse: integer({ from: 0, to: 100_000 }),
  }),
  CALLBACK_ALLOWED_TARGETS: setting({
    about:
      'Internal targets that callbacks may reach in live although they are not public: names, name:port, addresses or ranges, separated by commas.',
    fallback: '',
    example: 'erp.internal:8443,10.20.0.0/16',
    parse: allowedTargets,
  }),
  CALLBACK_EXTRA_CA_FILE: setting({
    about: 'A file of certificates (PEM) that callback receivers are trusted by, beside those of the system.',
    fallback: '',
    example: '/etc/tillgate/internal-ca.pem',
    parse: text,
  }),
  CALLBACK_HISTORY_DAYS: setting({
    about:
      'How many days the attempts and the text of callbacks are kept. Attempts leave by whole months, up to 30 days later.',
    fallback: '90',
    example: '365',
    // Longer than a callback can wait: seven days of retries, and as many behind a paused host.
    parse: integer({ from: 15, to: 3_650 }),
  }),
  EVENT_FEED_DAYS: setting({
    about:
      'How many days the feed of events is kept that the operator’s own systems follow (GET /api/admin/v1/events). 0: none is kept. The same in every process.',
    fallback: '0',
    example: '14',
    parse: integer({ from: 0, to: 3_650 }),
  }),
  PERSONAL_DATA_DAYS: setting({
    about:
      'After so many days the names and addresses of receivers and the descriptions of orders are erased in place. Amounts, numbers and goods stay. Left out: they are kept.',
    fallback: '',
    example: '180',
    // Longer than an order can be open and its callbacks are retried.
    parse: integer({ from: 30, to: 36_500 }),
  }),
  LATE_MONEY: setting({
    about:
      'What becomes of money that comes through a rail after its order has ended: "refund" sends it back through the rail, "hold" keeps it in suspense for an operator.',
    fallback: 'refund',
    example: 'hold',
    parse: oneOf('refund', 'hold'),
  }),
  CALLBACKS_IN_FLIGHT: setting({
    about: 'How many callbacks one gateway process sends at once.',
    fallback: '1024',
    example: '256',
    parse: integer({ from: 8, to: 20_000 }),
  }),
  CALLBACKS_IN_FLIGHT_PER_HOST: setting({
    about: 'How many of them go to one host. A host that is new, slow or failing gets fewer.',
    // Callbacks that wait for a signature count too. With a smaller value, the worker claims in small batches, each
    // with its own commit.
    fallback: '192',
    example: '32',
    parse: integer({ from: 1, to: 5_000 }),
  }),
  CALLBACKS_IN_FLIGHT_PER_MERCHANT: setting({
    about: 'How many of them belong to one merchant.',
    fallback: '256',
    example: '64',
    parse: integer({ from: 1, to: 5_000 }),
  }),
  SMTP_URL: setting({
    about:
      'The mail server that emails are sent by: smtps:// speaks TLS at once, smtp:// by STARTTLS, which live insists on unless the server is this machine. Left out, no mail is sent, and one-time links are shown to operators to pass on.',
    fallback: '',
    example: 'smtps://tillgate:secret@mail.example.com:465',
    isSecret: true,
    parse: mailServer,
  }),
  SMTP_FROM: setting({
    about:
      'Who emails come from: an address, or a name with the address in angle brackets. Without a name, OPERATOR_NAME is the name.',
    fallback: '',
    example: 'Example Pay <no-reply@pay.example.com>',
    parse: sender,
  }),
  OPERATOR_EMAILS: setting({
    about:
      'Who hears by mail what operators should know, such as late money or an approval that waits; addresses separated by commas.',
    fallback: '',
    example: 'payments@example.com',
    parse: (value) => value.split(',').map(emailAddress),
  }),
  SHOP_PORT: setting({
    about: 'The demo shop that a sandbox runs beside itself. off: none.',
    fallback: '8082',
    example: 'off',
    parse: portOrOff,
  }),
  RAIL_PORT: setting({
    about: 'The test bank that a sandbox runs beside itself, as a rail to pay over. off: none.',
    fallback: '8083',
    example: 'off',
    parse: portOrOff,
  }),
  SANDBOX_MERCHANTS_PER_DAY: setting({
    about:
      'How many newcomers may get sandbox access in 24 hours; 0 turns the page off. Live has no such page.',
    fallback: '200',
    example: '20',
    parse: integer({ from: 0, to: 100_000 }),
  }),
  PORTAL: setting({
    about:
      'The portal at /merchant on the public listener, where the people of merchants sign in. off: there is none.',
    fallback: 'on',
    example: 'off',
    parse: oneOf('on', 'off'),
  }),
  APPLICATIONS: setting({
    about:
      'on: whoever wants to be a merchant of this live gateway applies at /merchant/apply, and operators decide in the console. Needs MODE=live and the portal.',
    fallback: 'off',
    example: 'on',
    parse: oneOf('on', 'off'),
  }),
  WALLET: setting({
    about: 'The wallet at /wallet on the public listener, where consumers sign in. off: there is none.',
    fallback: 'on',
    example: 'off',
    parse: oneOf('on', 'off'),
  }),
  REGISTRATION: setting({
    about:
      'on: whoever wants a wallet makes one at /wallet/register; a code by mail proves the login. Needs WALLET=on, and in live SMTP_URL. Default: off in live; on in the sandbox, where the code is shown if no mail is sent.',
    fallback: '',
    example: 'on',
    parse: oneOf('on', 'off'),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    about:
      'An OpenTelemetry collector that takes traces over HTTP, without /v1/traces. Left out, nothing is traced.',
    fallback: '',
    example: 'http://127.0.0.1:4318',
    parse: webAddress,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    about:
      'The share of traces that are recorded, from 0 to 1. A request with a traceparent is recorded as that says.',
    fallback: '1',
    example: '0.01',
    parse: share,
  }),
  LOG_LEVEL: setting({
    about: 'How much is logged: debug also logs every request that went well.',
    fallback: 'info',
    example: 'debug',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  }),
  LOG_FORMAT: setting({
    about: 'auto: for people on a terminal, JSON lines elsewhere.',
    fallback: 'auto',
    example: 'json',
    parse: oneOf('auto', 'json', 'pretty'),
  }),
} as const

export type SettingName = keyof typeof settings
