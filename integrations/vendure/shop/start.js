// The shop of the tests: Vendure as it comes, with our plugin and no other, filled with what it takes to sell one tea.
const { scryptSync, timingSafeEqual } = require('node:crypto')
const { TillgatePlugin, tillgateHandler } = require('../dist/index.js')
const { bootstrap, DefaultMoneyStrategy, LanguageCode, Populator } = require('@vendure/core')

const { PORT, DATABASE_URL, TILLGATE_CREDENTIALS, SHOP_URL, RETURN_URL } = process.env

// Fils are sold too.
class ThreeDecimalPlaces extends DefaultMoneyStrategy {
  precision = 3
}

// Vendure's own needs bcrypt, which is compiled when it is installed.
const passwords = {
  hash: async (password) => scryptSync(password, 'for tests', 32).toString('hex'),
  check: async (password, hash) =>
    timingSafeEqual(scryptSync(password, 'for tests', 32), Buffer.from(hash, 'hex')),
}

bootstrap({
  apiOptions: {
    port: Number(PORT),
    hostname: '127.0.0.1',
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: 'bearer',
    requireVerification: false,
    superadminCredentials: { identifier: 'admin', password: 'a password for tests' },
    passwordHashingStrategy: passwords,
  },
  dbConnectionOptions: { type: 'postgres', url: DATABASE_URL, synchronize: true },
  entityOptions: { moneyStrategy: new ThreeDecimalPlaces() },
  paymentOptions: { paymentMethodHandlers: [] },
  plugins: [
    TillgatePlugin.init({
      credentials: TILLGATE_CREDENTIALS,
      vendureUrl: SHOP_URL,
      returnUrl: RETURN_URL,
    }),
  ],
})
  .then(async (app) => {
    await app.get(Populator).populateInitialData({
      defaultLanguage: LanguageCode.en,
      defaultZone: 'World',
      countries: [{ name: 'France', code: 'FR', zone: 'World' }],
      taxRates: [{ name: 'Standard', percentage: 0 }],
      shippingMethods: [{ name: 'Post', price: 0 }],
      paymentMethods: [{ name: 'Tillgate', handler: { code: tillgateHandler.code, arguments: [] } }],
      collections: [],
    })
    process.stdout.write('The shop is ready.\n')
  })
  .catch((error) => {
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
