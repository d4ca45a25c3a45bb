// onnxruntime-web in a worker, as a page would use it: one thread, its usual settings otherwise.
const provider = new URL(import.meta.url).searchParams.get('provider');
const ort = await import(provider === 'webgpu' ? './node_modules/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs'
    : './node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs');
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = new URL('./node_modules/onnxruntime-web/dist/', import.meta.url).href;
const sessions = {};

onmessage = async ({ data: { load, run, type, values, shape } }) => {
    try {
        if (load) {
            sessions[load] = await ort.InferenceSession.create(load, { executionProviders: [provider] });
            postMessage({});
        } else {
            const { features } = await sessions[run].run({ input: new ort.Tensor(type, values, shape) });
            postMessage({ values: await features.getData(), rowWidth: features.dims[1] });
        }
    } catch (error) {
        postMessage({ error: `onnxruntime-web: ${error.message ?? error}` });
    }
};
postMessage({});
