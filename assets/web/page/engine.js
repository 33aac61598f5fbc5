// The simulator in a worker: it receives calls as messages and answers each, so that the page never waits.
"use strict";

const SLICE_MS = 8;  // of work between two checks for messages
// least time between progress reports, and least share of the simulated time
const TELL_MS = 60, TELL_SHARE = 0.02;
const EVENTS_PER_STEP = 4000;
const REACHED = 0, EXHAUSTED = 2; // RunEnd
const decoder = new TextDecoder();
const encoder = new TextEncoder();

let core = null;

// Stubs of the system calls of the C++ library: no file opens, and output is discarded.
const UNKNOWN = 52; // ENOSYS

function system_calls(module) {
  const calls = {};
  for (const { name } of WebAssembly.Module.imports(module)) calls[name] = () => UNKNOWN;
  const words = () => new DataView(core.memory.buffer);
  calls.environ_sizes_get = (count, size) => {
    words().setUint32(count, 0, true);
    words().setUint32(size, 0, true);
    return 0;
  };
  calls.fd_write = (fd, list, count, written) => {
    let bytes = 0;
    for (let i = 0; i < count; ++i) bytes += words().getUint32(list + 8 * i + 4, true);
    words().setUint32(written, bytes, true);
    return 0;
  };
  return calls;
}

function text() {
  const place = core.text(), size = core.text_size();
  return decoder.decode(new Uint8Array(core.memory.buffer, place, size));
}

function give(bytes) {
  const place = core.buffer(bytes.length);
  new Uint8Array(core.memory.buffer, place, bytes.length).set(bytes);
  return bytes.length;
}

function checked(result) {
  if (result < 0) throw new Error(text());
  return result;
}

function json(call, ...given) {
  checked(core[call](...given));
  return JSON.parse(text());
}

function column(run, number, count) {
  // The call may let the memory grow and move, which detaches the buffer of before.
  const place = core.column_values(run, number);
  return new Float32Array(core.memory.buffer, place, count).slice();
}

function samples(run, numbers) {
  const count = core.sample_count(run);
  return { count, values: numbers.map((number) => column(run, number, count)), means: numbers.map((number) => core.column_mean(run, number)) };
}

// A fork of the run for the state at the cursor: it advances when the cursor moves forward by less than 2 s, and is
// replaced after any other move.
const glance = { run: -1, fork: -1, at: -1 };

function glance_at(run, at) {
  const reuse = glance.run === run && at >= glance.at && at - glance.at < 2e9;
  if (!reuse) {
    if (glance.fork >= 0) core.close_run(glance.fork);
    glance.fork = -1;
    glance.fork = checked(core.fork_at(run, at, 1));
    glance.run = run;
  } else {
    checked(core.advance(glance.fork, at, 1e12));
  }
  glance.at = at;
  return glance.fork;
}

function forget_glance(run) {
  if (glance.run !== run) return;
  if (glance.fork >= 0) core.close_run(glance.fork);
  glance.run = glance.fork = glance.at = -1;
}

function end_of(run, columns) {
  checked(core.signature(run));
  const signature = text();
  return {
    signature,
    results: json("results", run),
    // Four numbers per mark in one array: a run may have a hundred thousand marks, too many for objects.
    marks: Float64Array.from(json("marks", run).flat(), (value) => value ?? NaN),
    samples: samples(run, columns),
  };
}

const calls = {
  async boot({ core: packed, size, policies }) {
    const compiled = await WebAssembly.compile(await inflated(dense(packed, size)));
    const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: system_calls(compiled) });
    core = instance.exports;
    core._initialize();
    for (const policy of policies) checked(core.add_policy(give(await inflated(Uint8Array.from(atob(policy), (letter) => letter.charCodeAt(0))))));
    return {};
  },
  open({ scenario, seed, interval }) {
    const run = checked(core.open_run(give(encoder.encode(scenario)), BigInt(seed), interval));
    return { run, columns: json("columns", run) };
  },
  // Forks a run at a time and applies events there.
  fork({ run, at, events }) {
    const fork = checked(core.fork_at(run, at, 0));
    try {
      const size = give(encoder.encode(events));
      const applied = core.apply_events(fork, size);
      if (applied < 0) throw new Error(text());
      return { run: fork, columns: json("columns", fork), at: applied };
    } catch (error) {
      core.close_run(fork);
      throw error;
    }
  },
  // Runs to the end in slices and reports the samples so far meanwhile.
  async finish({ run, until, columns, tell }, id) {
    let told = performance.now(), due = 0;
    for (;;) {
      const begun = performance.now();
      let end = EXHAUSTED;
      while (end === EXHAUSTED && performance.now() - begun < SLICE_MS)
        end = checked(core.advance(run, until, EVENTS_PER_STEP));
      if (end === REACHED) return end_of(run, columns);
      if (end !== EXHAUSTED) throw new Error(`the run ended early (${end})`);
      if (tell && performance.now() - told > TELL_MS && core.now_ns(run) >= due) {
        told = performance.now();
        due = core.now_ns(run) + until * TELL_SHARE;
        answer({ id, progress: { now: core.now_ns(run), samples: samples(run, columns) } });
      }
      await new Promise((resume) => setTimeout(resume, 0));
    }
  },
  samples({ run, columns }) {
    return samples(run, columns);
  },
  look({ run, at }) {
    const fork = glance_at(run, at);
    const count = checked(core.look(fork));
    const state = JSON.parse(text());
    const memory = core.memory.buffer;
    const packets = {
      link: new Int32Array(memory, core.packet_column(fork, 0), count).slice(),
      subflow: new Int32Array(memory, core.packet_column(fork, 1), count).slice(),
      kind: new Uint8Array(memory, core.packet_column(fork, 2), count).slice(),
      progress: new Float32Array(memory, core.packet_column(fork, 3), count).slice(),
      position: new Int32Array(memory, core.packet_column(fork, 4), count).slice(),
    };
    return { state, packets };
  },
  // The decision of a subflow, and the decision of the agent that controls the subflow, if one does.
  explain({ run, owner, at }) {
    const decision = checked(core.explain(run, owner, at)) === 1 ? JSON.parse(text()) : null;
    const agent = checked(core.explain_agent(run, owner, at)) === 1 ? JSON.parse(text()) : null;
    return { decision, agent };
  },
  // Packets in the queue of a link direction at ascending times in ns.
  queue({ run, link, times }) {
    const fork = checked(core.fork_at(run, times[0], 1));
    try {
      const pkts = times.map((time) => {
        checked(core.advance(fork, time, 1e12));
        return json("look", fork).queue_pkts[link];
      });
      return { pkts };
    } finally {
      core.close_run(fork);
    }
  },
  close({ run }) {
    forget_glance(run);
    core.close_run(run);
    return {};
  },
};

// Transfers the buffers of columns: copying them would block the page.
function answer(message) {
  const values = (message.result ?? message.progress)?.samples?.values ?? message.result?.values ?? [];
  postMessage(message, values.map((each) => each.buffer));
}

onmessage = async ({ data: { id, call, given } }) => {
  try {
    answer({ id, result: await calls[call](given, id) });
  } catch (error) {
    postMessage({ id, error: String((error && error.message) || error) });
  }
};
