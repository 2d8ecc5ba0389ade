// A map that holds so many entries at most: past that, what was set longest ago goes. Setting a key again makes it the
// newest, so a map whose every use sets forgets what was unused for longest.

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.delete(this.keys().next().value as Key)
    return this
  }
}
