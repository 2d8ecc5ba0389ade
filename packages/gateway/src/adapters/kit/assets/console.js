// Keeps a page that says data-live up to date while somebody looks at it and is not in the middle of something, puts a
// button beside what people copy, and lets acts ask in a dialog. Without this script every page works; it is then as fresh
// as the last load, and the forms of acts fold out in their place.
const everyMs = 5_000
const main = document.querySelector('main[data-live]')

/** A table that is folded out stays so; whoever fills in a form is left in peace. */
const openTables = () => [...main.querySelectorAll('details.behind[open]')]

const isBusy = () =>
  document.hidden ||
  // Whoever has come to something by keyboard must not lose their place.
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
  // The sentence about what was just done stays until the person goes on.
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

/** Ids and keys. A list is read, and the page of each of its rows has them whole. */
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
    button.textContent = 'Copy'
    button.setAttribute('aria-label', `Copy ${text}`)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2_000)
    })
    code.classList.add('copied')
    code.after(' ', button)
  }
}

/** The fold is open as long as its dialog is. */
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
// A refused form comes back open: why it was refused stands in its dialog.
for (const fold of document.querySelectorAll('.act[open]')) {
  const note = document.querySelector('main > .flash.bad')
  if (note) fold.querySelector('form').prepend(note)
  ask(fold)
}

offerCopies()
if (main) {
  setInterval(() => {
    // A server that is away is asked again the next time.
    refresh().catch(() => {})
  }, everyMs)
}
