// The portal in a real browser: sandbox access, a password by the link, a key pair that never leaves the page, and every
// page on a desktop and a phone, light and dark, without a fault that axe finds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../support/gateway.ts'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { look } from '../support/look.ts'
import { createBody } from '../support/order.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
