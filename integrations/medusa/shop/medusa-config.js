// The shop of the tests: Medusa as it comes, with our provider and no other.
const { defineConfig } = require('@medusajs/framework/utils')

const { DATABASE_URL, STORE_CORS = '', TILLGATE_CREDENTIALS, SHOP_URL, RETURN_URL } = process.env

module.exports = defineConfig({
  projectConfig: {
    databaseUrl: DATABASE_URL,
    databaseDriverOptions: { ssl: false },
    http: {
      storeCors: STORE_CORS,
      adminCors: '',
      authCors: '',
      jwtSecret: 'for tests',
      cookieSecret: 'for tests',
    },
  },
  admin: { disable: true },
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        webhook_delay: 100,
        providers: [
          {
            resolve: `${__dirname}/../dist/index.js`,
            id: 'tillgate',
            options: { credentials: TILLGATE_CREDENTIALS, backendUrl: SHOP_URL, returnUrl: RETURN_URL },
          },
        ],
      },
    },
  ],
})
