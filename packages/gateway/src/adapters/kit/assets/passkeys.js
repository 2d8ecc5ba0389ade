// Creates a passkey, or signs in with one. The browser's response goes back in the form.
const form = document.querySelector('form[data-passkey]')
const { PublicKeyCredential: credentials } = globalThis

// Only at the host that passkeys are bound to, over https or on localhost.
if (form && location.host === form.dataset.host && credentials?.parseRequestOptionsFromJSON) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    answer().catch(() => {
      form.querySelector('[role=alert]').textContent = form.dataset.trouble
    })
  })
}

async function answer() {
  form.querySelector('[role=alert]').textContent = ''
  const { options, ask } = form.dataset
  const credential = options
    ? await navigator.credentials.create({
        publicKey: credentials.parseCreationOptionsFromJSON(JSON.parse(options)),
      })
    : await navigator.credentials.get({
        publicKey: credentials.parseRequestOptionsFromJSON(await (await fetch(ask)).json()),
      })
  form.elements.credential.value = JSON.stringify(credential)
  form.submit()
}
