/** Waits of one owner that end by their time or all at once, when something happened. */
export class Pauses {
  readonly #wakes = new Set<() => void>();

  /** Resolves after this long, or earlier when `wake` is called. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wakes.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wakes.add(done);
    });
  }

  /** Ends every pause under way. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }
}
