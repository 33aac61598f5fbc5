// Access to the simulator in its worker: each call is a message and returns a promise of the answer.

class Simulator {
  // Unpacks the worker's script, which unpacks the core and the policies that runs name by number; a core or policy can
  // take 0.1 s.
  static async start(policies = []) {
    const unpacking = `const LETTERS = ${JSON.stringify(LETTERS)};\n${dense}\n${inflated}\n`;
    const made = new Simulator((await unpacked_text("worker")) + unpacking), core = document.getElementById("core");
    await made.call("boot", { core: core.textContent, size: Number(core.dataset.size), policies });
    return made;
  }

  constructor(source) {
    this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    this.waiting = new Map();
    this.next = 1;
    this.worker.onmessage = ({ data }) => {
      const entry = this.waiting.get(data.id);
      if (!entry) return;
      if (data.progress) return entry.on_progress?.(data.progress);
      this.waiting.delete(data.id);
      if (data.error !== undefined) entry.fail(new Error(data.error));
      else entry.done(data.result);
    };
    this.worker.onerror = (event) => {
      for (const { fail } of this.waiting.values()) fail(new Error(event.message || "worker"));
      this.waiting.clear();
    };
  }

  call(name, given = {}, on_progress = null) {
    return new Promise((done, fail) => {
      const id = this.next++;
      this.waiting.set(id, { done, fail, on_progress });
      this.worker.postMessage({ id, call: name, given });
    });
  }
}
