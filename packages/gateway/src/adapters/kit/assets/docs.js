// The documentation's script: copy buttons, a search while typing, and a mark at the current section. The pages work
// without it.
for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${block.querySelector('code').textContent.trimEnd()}\n`)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  // The clipboard exists only over https and on localhost.
  if (navigator.clipboard) block.append(button)
}

// The chosen language applies to the tabs of all pages.
const choose = (language) => {
  for (const tab of document.querySelectorAll('.tabs > input')) if (tab.value === language) tab.checked = true
}
choose(localStorage.getItem('language'))
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return
  localStorage.setItem('language', target.value)
  choose(target.value)
})

const form = document.querySelector('[role=search]')
const field = form.querySelector('input')
let asking

// The slash key focuses the search.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  field.focus()
  field.select()
})

// On the search page, results follow the typing.
if (document.querySelector('#results')) {
  let timer
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(answer, 120)
  })
  if (field.value === '') field.focus()
}

async function answer() {
  asking?.abort()
  asking = new AbortController()
  const url = `${form.action}?${new URLSearchParams(new FormData(form))}`
  try {
    const response = await fetch(url, { signal: asking.signal })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    document.querySelector('#results').replaceChildren(...page.querySelector('#results').childNodes)
    document.title = page.title
    history.replaceState(null, '', url)
  } catch {
    // A newer search has started, or the gateway is unavailable; the form still works.
  }
}

const links = new Map(
  [...document.querySelectorAll('.contents a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
)
const headings = [...document.querySelectorAll('article :is(h2, h3)')].filter(({ id }) => links.has(id))
if (headings.length > 0) {
  const mark = () => {
    const read = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0]
    for (const [id, link] of links) link.toggleAttribute('data-read', id === read.id)
  }
  document.addEventListener('scroll', mark, { passive: true })
  mark()
}
// On small screens, the list closes when a link in it is followed.
for (const link of links.values())
  link.addEventListener('click', () => {
    const list = document.querySelector('.contents')
    if (list.matches(':popover-open')) list.hidePopover()
  })
