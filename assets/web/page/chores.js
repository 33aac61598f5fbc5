// Drawing and building in pieces of a few milliseconds, so that input events are handled between two pieces.

const PIECES_MS = 10;  // of work per animation frame

class Chores {
  constructor() {
    this.waiting = new Map();
    this.working = null;
  }

  // Queues work for the next animation frames. Work queued again under the same name replaces the earlier work and
  // keeps its place.
  want(name, work) {
    this.waiting.set(name, work);
    this.working ??= this.work();
  }

  async done() {
    while (this.working) await this.working;
  }

  async work() {
    while (this.waiting.size) {
      const begun = await new Promise(requestAnimationFrame).then(() => performance.now());
      for (const [name, work] of this.waiting) {
        this.waiting.delete(name);
        work();
        if (performance.now() - begun > PIECES_MS) break;
      }
    }
    this.working = null;
  }
}
