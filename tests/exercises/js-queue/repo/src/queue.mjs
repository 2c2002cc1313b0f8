export class Queue {
  /** The result of a job, as a promise. */
  async add(job) {
    return job();
  }
}
