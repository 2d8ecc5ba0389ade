// What the shop sells, with a drawing of each.
export const currency = 'EUR'

/** Prices in cents: money is counted in whole numbers. */
export const goods = [
  {
    id: 'sencha',
    name: 'Sencha',
    about: 'Green tea from the first harvest, 100 g',
    priceMinor: 1250n,
    drawing: '<path d="M14 16h20v24H14zM16 16v-5h16v5M14 24h20M14 32h20M24 25c-3 1-4 3-4 6 3 0 5-2 4-6z"/>',
  },
  {
    id: 'teapot',
    name: 'Teapot',
    about: 'Cast iron, for four cups',
    priceMinor: 4800n,
    drawing:
      '<path d="M13 26c0-6 5-9 11-9s11 3 11 9c0 7-4 12-11 12s-11-5-11-12zM17 18h14M24 17v-3M35 24c4 0 6-2 7-5M13 31c-4 0-7-2-7-5s2-4 6-4M16 19c0-13 16-13 16 0"/>',
  },
  {
    id: 'cup',
    name: 'Cup',
    about: 'Stoneware, keeps tea warm',
    priceMinor: 950n,
    drawing:
      '<path d="M12 20h22v8c0 6-4 10-11 10s-11-4-11-10zM34 22h3c3 0 4 2 4 4s-1 5-7 5M10 42h26M19 15c-2-2 2-3 0-6M27 15c-2-2 2-3 0-6"/>',
  },
  {
    id: 'honey',
    name: 'Honey',
    about: 'Lime blossom, from the next village',
    priceMinor: 780n,
    drawing:
      '<path d="M14 14h20v4H14zM16 18c-4 2-4 4-4 7v10c0 3 2 5 5 5h14c3 0 5-2 5-5V25c0-3 0-5-4-7M19 26l5-3 5 3v6l-5 3-5-3z"/>',
  },
] as const
