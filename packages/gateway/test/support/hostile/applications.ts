// Hostile applications for live keys, asked, answered and rejected in hostile words.

import { pair } from '../../../../protocol/test/keys.ts'
import { actingAs } from '../acting.ts'
import { startTestGateway } from '../gateway.ts'
import type { HostileTexts } from './texts.ts'

export async function plantApplications(texts: HostileTexts) {
  const gateway = await startTestGateway({
    environment: {
      MODE: 'live',
      PUBLIC_URL: 'https://pay.example',
      TRUSTED_PROXIES: 'none',
      APPLICATIONS: 'on',
    },
  })
  const { apply } = gateway.operations
  const { applications } = actingAs(gateway.operations, 'test')
  const made: { readonly token: string; readonly applicationId: string }[] = []
  for (const email of ['ann', 'bob', 'eve']) {
    const token = await apply.apply({
      business: texts.text('business', { max: 128 }),
      contact: texts.text('contact', { max: 128 }),
      email: `${email}@tea.example`,
      website: texts.url('website', 'https://tea.example/'),
      about: texts.text('about', { max: 1_000 }),
      callbackHosts: 'tea.example',
      publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    })
    const [newest] = await applications.listApplications({}, { limit: 1 })
    made.push({ token, applicationId: newest?.applicationId ?? '' })
  }
  const [asked, answered, rejected] = made
  for (const each of [asked, answered])
    await applications.ask(each?.applicationId ?? '', texts.text('question'))
  await apply.answer(answered?.token ?? '', texts.text('answer of an applicant', { max: 1_000 }))
  await applications.reject(rejected?.applicationId ?? '', texts.text('reason of a rejection'))
  return { gateway, made }
}
