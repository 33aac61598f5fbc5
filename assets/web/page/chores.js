// What there is to draw and to build, in pieces of a few milliseconds: what the reader does comes between two of them.

const PIECES_MS = 10; // of work in one picture of the screen

class Chores {
  constructor() {
    this.waiting = new Map();
    this.working = null;
  }

  // Something to do with the next pictures of the screen. What is wanted again before its turn is done once, as wanted last.
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
