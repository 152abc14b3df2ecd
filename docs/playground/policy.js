// Policies exported to ONNX, run by ONNX Runtime Web on one thread, from bytes inside the page.

function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// The bytes of a compressed text inside the page.
export async function unpack(id) {
  const packed = new Blob([bytes(document.getElementById(id).textContent)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Hand the runtime its WebAssembly, so that it fetches nothing and starts no worker.
async function startRuntime() {
  const wasmBinary = (await unpack("runtime")).buffer;
  Object.assign(ort.env.wasm, { numThreads: 1, proxy: false, wasmBinary });
}

let runtime = null; // started with the first policy
let last = Promise.resolve(); // the runtime takes one call after the other

export class Policy {
  constructor(session) { this.session = session; }

  static async load(base64) {
    runtime ??= startRuntime();
    await runtime;
    return new Policy(await ort.InferenceSession.create(bytes(base64), { executionProviders: ["wasm"] }));
  }

  // The deterministic actions of N observations, within [−1, 1].
  act(rows) {
    const run = last.then(() => this.run(rows));
    last = run.catch(() => null);
    return run;
  }

  async run(rows) {
    const obs = new ort.Tensor("float32", Float32Array.from(rows.flat()), [rows.length, rows[0].length]);
    const { action } = await this.session.run({ obs });
    const values = Array.from(action.data, (value) => Math.min(Math.max(value, -1), 1));
    const size = values.length / rows.length;
    return rows.map((_, i) => values.slice(i * size, (i + 1) * size));
  }
}
