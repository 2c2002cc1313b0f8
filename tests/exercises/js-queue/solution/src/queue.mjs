export class Queue {
  #last = Promise.resolve();

  /** The result of a job, as a promise; it starts when the job before it has ended. */
  add(job) {
    const result = this.#last.then(job);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
