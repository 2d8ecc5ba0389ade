// Refreshes a page with data-live while it is visible and idle, adds copy buttons, and shows actions in a dialog. Every
// page works without this script: it is then as fresh as the last load, and actions expand in place.
const everyMs = 5_000
const main = document.querySelector('main[data-live]')
const copyWord = document.querySelector('main')?.dataset.copy ?? 'Copy'

/** An open table stays open, and a form in use is not replaced. */
const openTables = () => [...main.querySelectorAll('details.behind[open]')]

const isBusy = () =>
  document.hidden ||
  // A focused element must not be replaced.
  (document.activeElement !== main &&
    main.contains(document.activeElement) &&
    !document.activeElement.matches('.behind > summary')) ||
  main.querySelector('details[open]:not(.behind), [type=checkbox]:checked') !== null ||
  document.getSelection()?.isCollapsed === false

async function refresh() {
  if (isBusy()) return
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (!response.ok || response.redirected) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main')
  if (!fresh || isBusy()) return
  // The flash message stays until the person leaves.
  const note = main.querySelector('.flash')
  const open = openTables().map(({ id, lastElementChild }) => ({ id, scrolled: lastElementChild?.scrollTop }))
  const focused = main.contains(document.activeElement) ? document.activeElement.parentElement.id : ''
  main.replaceChildren(...(note ? [note] : []), ...fresh.childNodes)
  for (const { id, scrolled } of open) {
    const table = document.getElementById(id)
    if (!table) continue
    table.open = true
    table.lastElementChild.scrollTop = scrolled
  }
  offerCopies()
  if (focused) document.querySelector(`#${CSS.escape(focused)} > summary`)?.focus({ preventScroll: true })
}

/** For ids and keys. Lists have no buttons, because the page of each row shows the complete values. */
function offerCopies() {
  if (!navigator.clipboard) return
  for (const code of document.querySelectorAll(
    'main :is(.scroll:not(.rows) td, dd, .secret) > code:not(.copied)',
  )) {
    const text = code.title || code.textContent
    if (!/\d/.test(text) || text.length < 12) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.setAttribute('aria-label', `${copyWord} ${text}`)
    button.title = copyWord
    button.addEventListener('click', () => copy(button, text))
    code.classList.add('copied')
    code.after(' ', button)
  }
  for (const button of document.querySelectorAll('main [data-text][hidden]')) {
    const { text, title } = button.dataset
    const shares = title !== undefined
    if (shares && !navigator.share) continue
    button.hidden = false
    button.addEventListener('click', () =>
      shares ? navigator.share({ title, url: text }).catch(() => {}) : copy(button, text),
    )
  }
}

/** The icon becomes a check for as long as it takes to see it. */
async function copy(button, text) {
  await navigator.clipboard.writeText(text)
  button.classList.add('done')
  setTimeout(() => button.classList.remove('done'), 2_000)
}

/** The element is open as long as its dialog. */
function ask(fold) {
  const dialog = fold.querySelector('dialog')
  if (!fold.open) dialog.close()
  else if (!dialog.open) dialog.showModal()
}

document.addEventListener('toggle', ({ target }) => target.matches('.act') && ask(target), true)
document.addEventListener(
  'close',
  ({ target }) => {
    if (target.parentElement?.matches('.act')) target.parentElement.open = false
  },
  true,
)
// A rejected form opens again, because its dialog shows the reason.
for (const fold of document.querySelectorAll('.act[open]')) {
  const note = document.querySelector('main > .flash.bad')
  if (note) fold.querySelector('form').prepend(note)
  ask(fold)
}

offerCopies()
if (main) {
  setInterval(() => {
    // If the server is unavailable, the next refresh tries again.
    refresh().catch(() => {})
  }, everyMs)
}
