// Both engines, each in a worker of its own, asked in turn for the same. The driver (tests/e2e/bench.rs) calls `bench` and
// polls it; times are in milliseconds by the page's clock, from the question to the answer.

// Words that are one token each in every vocabulary used here.
const WORDS = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
// How the engine keeps weights in the browser.
const STORE = 'kappascope-weights';

// Mulberry32: the same captions and pictures in every run.
let state = 20261123;
const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const words = n => Array.from({ length: n }, () => WORDS[Math.floor(random() * WORDS.length)]);
// Captions that no engine has seen, of so many tokens with start and end.
const captions = (n, nTokens) => Array.from({ length: n }, () => words(nTokens - 2).join(' '));
// Every prefix of a caption of twelve words; the first word is new in each of 36 rounds.
const prefixes = round => {
    const all = [WORDS[round % WORDS.length], ...words(11)];
    return all.map((_, i) => all.slice(0, i + 1).join(' '));
};

// Pixels of a square picture: waves of colour.
const picture = side => {
    const waves = Array.from({ length: 3 }, () => [random(), random(), random()].map(x => x * 0.2));
    const pixels = new Uint8Array(3 * side * side);
    for (let y = 0, at = 0; y < side; y += 1)
        for (let x = 0; x < side; x += 1)
            for (const [a, b, c] of waves) pixels[at++] = 127.5 + 127 * Math.sin(a * x + b * y + 30 * c);
    return pixels;
};
// The picture as a file; rows are multiples of four bytes long.
const bmp = pixels => {
    const side = Math.sqrt(pixels.length / 3);
    const file = new Uint8Array(54 + pixels.length), head = new DataView(file.buffer);
    file.set([0x42, 0x4d]);
    [[2, file.length], [10, 54], [14, 40], [18, side], [22, side], [34, pixels.length]].forEach(([at, n]) => head.setUint32(at, n, true));
    head.setUint16(26, 1, true);
    head.setUint16(28, 24, true);
    for (let y = 0; y < side; y += 1)
        for (let x = 0; x < side; x += 1)
            for (let c = 0; c < 3; c += 1) file[54 + 3 * ((side - 1 - y) * side + x) + c] = pixels[3 * (y * side + x) + 2 - c];
    return file;
};

// A worker that is asked one thing at a time.
class Asked {
    constructor(script) {
        this.worker = new Worker(script, { type: 'module' });
        this.worker.onerror = event => this.reject?.(new Error(event.message ?? 'the worker could not be started'));
        this.worker.onmessage = ({ data }) => this.hear(data);
    }

    ask(message, transfer = []) {
        if (message) this.worker.postMessage(message, transfer);
        return new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    }

    end() {
        this.worker.terminate();
    }
}

// Puts each dispatch of a GPU engine into a pass of its own between two timestamps. Runs in the worker, before its program.
const timeDispatches = () => {
    const N_MOST = 2000, names = new Map();
    let dispatches = [], queries, device;
    const { requestDevice } = GPUAdapter.prototype, { createComputePipeline } = GPUDevice.prototype;
    const { beginComputePass } = GPUCommandEncoder.prototype;
    GPUAdapter.prototype.requestDevice = async function (wanted) {
        const requiredFeatures = [...new Set([...(wanted?.requiredFeatures ?? []), 'timestamp-query'])];
        device = await requestDevice.call(this, { ...wanted, requiredFeatures });
        queries = device.createQuerySet({ type: 'timestamp', count: 2 * N_MOST });
        return device;
    };
    GPUDevice.prototype.createComputePipeline = function (asked) {
        const pipeline = createComputePipeline.call(this, asked);
        names.set(pipeline, asked.compute.entryPoint);
        return pipeline;
    };
    GPUCommandEncoder.prototype.beginComputePass = function () {
        const groups = new Map();
        let pipeline;
        return {
            setPipeline: next => { pipeline = next },
            setBindGroup: (...group) => { groups.set(group[0], group) },
            dispatchWorkgroups: (...size) => {
                const at = 2 * dispatches.length, isTimed = dispatches.length < N_MOST;
                const timestampWrites = { querySet: queries, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 };
                const pass = beginComputePass.call(this, isTimed ? { timestampWrites } : {});
                pass.setPipeline(pipeline);
                groups.forEach(group => pass.setBindGroup(...group));
                pass.dispatchWorkgroups(...size);
                pass.end();
                if (isTimed) dispatches.push(`${names.get(pipeline)}, ${size.join(' × ')} workgroups`);
            },
            end() {},
        };
    };
    addEventListener('message', async event => {
        if (event.data !== 'Dispatches') return;
        event.stopImmediatePropagation();
        const n = dispatches.length, size = 16 * n, usage = GPUBufferUsage;
        const resolved = device.createBuffer({ size, usage: usage.QUERY_RESOLVE | usage.COPY_SRC });
        const read = device.createBuffer({ size, usage: usage.COPY_DST | usage.MAP_READ });
        const encoder = device.createCommandEncoder();
        encoder.resolveQuerySet(queries, 0, 2 * n, resolved, 0);
        encoder.copyBufferToBuffer(resolved, 0, read, 0, size);
        device.queue.submit([encoder.finish()]);
        await read.mapAsync(GPUMapMode.READ);
        const times = new BigUint64Array(read.getMappedRange().slice(0));
        postMessage({ Dispatches: dispatches.map((name, i) => ({ name, millis: Number(times[2 * i + 1] - times[2 * i]) / 1e6 })) });
        dispatches = [];
    }, true);
};

// Times the kernel that the CPU engine assembles for its products, without the engine. Runs in the worker, before its program.
const timeProducts = () => {
    // Columns of a panel, and products timed together, as in products.py.
    const N_COLUMNS = 8, N_ROUNDS = 15, ROUND_OPERATIONS = 1e9;
    const { Module } = WebAssembly;
    let kernel;
    WebAssembly.Module = class extends Module {
        constructor(bytes) {
            super(bytes);
            kernel = this;
        }
    };
    const millis = n => {
        const [{ module, name }] = Module.imports(kernel), memory = new WebAssembly.Memory({ initial: Math.ceil(16 * (n * n + n) / 65536) });
        const { float } = new WebAssembly.Instance(kernel, { [module]: { [name]: memory } }).exports;
        const [rows, panels, output, bias] = [0, 1, 2, 3].map(i => new Float32Array(memory.buffer, 4 * i * n * n, i < 3 ? n * n : n));
        [rows, panels].forEach(values => values.forEach((_, i) => { values[i] = Math.sin(i * i + 1) }));
        const run = () => float(rows.byteOffset, panels.byteOffset, bias.byteOffset, output.byteOffset, n, n, n / N_COLUMNS, 0);
        run();
        for (const [row, column] of [[0, 0], [1, n - 1], [n - 1, 9]]) {
            const right = k => panels[(Math.floor(column / N_COLUMNS) * n + k) * N_COLUMNS + column % N_COLUMNS];
            const sum = rows.subarray(row * n, (row + 1) * n).reduce((sum, left, k) => sum + left * right(k), 0);
            if (!(Math.abs(output[row * n + column] - sum) < 1e-3)) throw new Error(`product of ${n}: ${output[row * n + column]}, expected ${sum}`);
        }
        const nTimes = Math.max(1, Math.round(ROUND_OPERATIONS / (2 * n ** 3))), rounds = [];
        for (let i = 0; i < N_ROUNDS; i += 1) {
            const start = performance.now();
            for (let j = 0; j < nTimes; j += 1) run();
            rounds.push((performance.now() - start) / nTimes);
        }
        return rounds;
    };
    addEventListener('message', event => {
        if (!event.data.Products) return;
        event.stopImmediatePropagation();
        postMessage({ Products: event.data.Products.map(millis) });
    }, true);
};

// What answers each question, where it is not called as the question; an engine says more by itself.
const ANSWERS = { Load: ['Loaded', 'LoadedBare'], Score: ['Scored', 'Compared'], AddImage: ['ImageAdded'], ProbePicture: ['PictureProbed'] };

// Our engine, through its own protocol (src/protocol.rs), started as the page starts it.
class Ours extends Asked {
    static async start(program, before = '') {
        const [glue, wasm] = [`${program}.js`, `${program}_bg.wasm`].map(name => JSON.stringify(new URL(name, location).href));
        const script = `${before}
            const [{ default: init }, module_or_path] = await Promise.all([import(${glue}), fetch(${wasm})]);
            await init({ module_or_path });`;
        const ours = new Ours(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
        ours.n = 0;
        await ours.ask();
        return ours;
    }

    hear(data) {
        const [name, content] = typeof data === 'string' ? [data] : Object.entries(data)[0];
        if (['Failed', 'Refused', 'ImageRefused', 'Crashed', 'Lost', 'Cancelled'].includes(name))
            return this.reject?.(new Error(`${name}: ${content?.message}`));
        if (this.awaited?.includes(name)) this.resolve?.(content);
    }

    ask(message = 'Started') {
        const kind = typeof message === 'string' ? message : Object.keys(message)[0];
        this.awaited = ANSWERS[kind] ?? [kind];
        return super.ask(kind === 'Started' ? undefined : message);
    }

    load(model) {
        const manifest_url = new URL(`models/${model}/manifest.json`, location).href;
        return this.ask({ Load: { manifest_url, integrity: '' } });
    }

    score(captions, images = []) {
        return this.ask({ Score: { id: (this.n += 1), captions, images, relates: false } });
    }

    async text(captions) {
        const { captions: read } = await this.score(captions);
        read.forEach(({ n_tokens }, i) => {
            const expected = captions[i].split(' ').length;
            if (n_tokens !== expected) throw new Error(`${captions[i]}: ${n_tokens} tokens, expected ${expected}`);
        });
    }

    addPicture(image, file) {
        return this.ask({ AddImage: { image, bytes: file } });
    }

    picture(pixels) {
        return this.addPicture('p', bmp(pixels));
    }

    // Cosines of captions with pictures, captions outermost.
    async cosines(captions, pictures) {
        for (const [i, pixels] of pictures.entries()) await this.addPicture(`c${i}`, bmp(pixels));
        const { cosines, pairs } = await this.score(captions, pictures.map((_, i) => `c${i}`));
        return cosines ?? pairs.map(pair => pair.cosine);
    }
}

// What onnxruntime-web has to be told of a model: token ids of words, start and end; factor and shift of each colour.
const reading = async model => {
    const json = file => fetch(`models/${model}/${file}`).then(answer => answer.json());
    const [{ preprocess: { image_size: side, mean, std } }, { model: { vocab } }] = await Promise.all([json('manifest.json'), json('tokenizer.json')]);
    const one = names => names.map(name => vocab[name]).find(id => id !== undefined);
    return {
        side,
        id: word => one([`${word}</w>`, word]),
        start: one(['<|startoftext|>', '[CLS]']),
        end: one(['<|endoftext|>', '[SEP]']),
        scale: mean.map((mean, c) => [1 / (255 * std[c]), mean / std[c]]),
    };
};

// onnxruntime-web with the same model as ONNX.
class Theirs extends Asked {
    static async start(provider, { onnx, suffix }, reading) {
        const theirs = new Theirs(`theirs.js?provider=${provider}`);
        theirs.reading = reading;
        theirs.files = { text: `models/${onnx}-text${suffix}.onnx`, image: `models/${onnx}-image${suffix}.onnx` };
        await theirs.ask();
        return theirs;
    }

    hear(data) {
        if (data.error) this.reject?.(new Error(data.error));
        else this.resolve?.(data);
    }

    load(tower) {
        return this.ask({ load: this.files[tower] });
    }

    text(captions) {
        const { id, start, end } = this.reading, rows = captions.map(caption => [start, ...caption.split(' ').map(id), end]);
        const longest = Math.max(...rows.map(row => row.length));
        const values = BigInt64Array.from(rows.flatMap(row => [...row, ...Array(longest - row.length).fill(end)]), BigInt);
        return this.ask({ run: this.files.text, type: 'int64', values, shape: [rows.length, longest] }, [values.buffer]);
    }

    picture(pixels) {
        const { scale, side } = this.reading, values = new Float32Array(pixels.length), area = side * side;
        for (let at = 0; at < area; at += 1)
            for (let c = 0; c < 3; c += 1) values[c * area + at] = pixels[3 * at + c] * scale[c][0] - scale[c][1];
        return this.ask({ run: this.files.image, type: 'float32', values, shape: [1, 3, side, side] }, [values.buffer]);
    }

    async cosines(captions, pictures, dim) {
        const units = ({ values, rowWidth }) => Array.from({ length: values.length / rowWidth }, (_, i) => {
            const row = values.slice(i * rowWidth, i * rowWidth + dim), length = Math.hypot(...row);
            return row.map(x => x / length);
        });
        const texts = units(await this.text(captions)), images = [];
        for (const pixels of pictures) images.push(...units(await this.picture(pixels)));
        return texts.flatMap(text => images.map(image => text.reduce((sum, x, i) => sum + x * image[i], 0)));
    }
}

// How alike two tables are once the means of rows and columns are taken out: 1 only where every caption and picture lie to
// each other as they should, also where random weights bring all of them close together.
const agreement = (ours, theirs, nColumns) => {
    const centred = table => {
        const nRows = table.length / nColumns, sum = values => values.reduce((a, b) => a + b, 0), all = sum(table) / table.length;
        const rows = Array.from({ length: nRows }, (_, i) => sum(table.slice(i * nColumns, (i + 1) * nColumns)) / nColumns);
        const columns = Array.from({ length: nColumns }, (_, j) => sum(table.filter((_, at) => at % nColumns === j)) / nRows);
        return table.map((x, at) => x - rows[Math.floor(at / nColumns)] - columns[at % nColumns] + all);
    };
    const [a, b] = [centred(ours), centred(theirs)], dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

const outcome = { rows: [], agreements: [], progress: '' };
const say = what => { outcome.progress = what };
const timed = async call => {
    const start = performance.now();
    await call();
    return performance.now() - start;
};

// A row of times of both, in turn; `make` gives what both are asked in a round.
const alternate = async (name, nRounds, make, ours, theirs) => {
    say(name);
    const row = { name, unit: 'ms', ours: [], theirs: [] };
    for (let i = 0; i <= nRounds; i += 1) {
        const asked = make(i), times = [await timed(() => ours(asked)), await timed(() => theirs(asked))];
        // The first round warms up.
        if (i > 0) [row.ours, row.theirs].forEach((side, at) => side.push(times[at]));
    }
    outcome.rows.push(row);
};

// Rows of calls.
const ask = async (title, nRounds, which, ours, theirs) => {
    const text = (n, length) => [`text ${n} × ${length} tokens`, () => captions(n, length), side => asked => side.text(asked)];
    const rows = {
        '1': text(1, 16), '4': text(4, 16), '8': text(8, 16),
        prefixes: ['every prefix of 12 words (12 × 14 tokens)', prefixes, side => asked => side.text(asked)],
        picture: ['picture', () => picture(theirs.reading.side), side => asked => side.picture(asked)],
    };
    for (const [name, make, call] of which.map(row => rows[row]))
        await alternate(`${title}, ${name}`, nRounds, make, call(ours), call(theirs));
};

// Models, and the least cosine between the answers of both. Weights in eight bits are rounded by each in its own way.
const CLIP = { title: 'ViT-B/32 f32', model: 'clip', onnx: 'clip', suffix: '', atLeast: 0.9999 };
const INT8 = { title: 'ViT-B/32 int8', model: 'clip-int8', onnx: 'clip', suffix: '-int8', atLeast: 0.98 };
const PHOTOS = { title: 'Photographs', model: 'photos', onnx: 'photos', suffix: '', atLeast: 0.9999 };

// Deletes what the browser keeps of our models; of theirs it keeps nothing.
const forget = async () => {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry(STORE, { recursive: true }).catch(() => {});
};

// Loads both towers of a model. Times from the start of the engine, or of the load where it runs already, to the first
// answers to captions; of that answer alone; and of loading the image tower and reading a picture.
const load = async (side, model, { isRunning = false, program = 'engine_cpu', before, provider = 'wasm', expect } = {}) => {
    say(`${model.title}: ${side} load${isRunning ? ' in an engine that runs' : ''}`);
    const isOurs = side === 'ours', known = await reading(model.model), asked = captions(4, 16), pixels = picture(known.side);
    let start = performance.now();
    const engine = await (isOurs ? Ours.start(program, before) : Theirs.start(provider, model, known));
    if (isRunning) {
        // Another model, so that the program is compiled.
        await (isOurs ? engine.load('photos') : engine.ask({ load: 'models/photos-text.onnx' }));
        start = performance.now();
    }
    if (isOurs && expect) engine.worker.postMessage({ Expect: expect });
    const card = await engine.load(isOurs ? model.model : 'text');
    const first = await timed(() => engine.text(asked)), text = performance.now() - start;
    const image = await timed(async () => {
        // Our engine loads it by itself.
        if (!isOurs) await engine.load('image');
        await engine.picture(pixels);
    });
    return { engine, card, times: [text, first, image] };
};

// Both with everything loaded, once their answers agree.
const together = async (model, nCompared, how) => {
    const { engine: ours, card, times } = await load('ours', model, how);
    const { engine: theirs, times: theirTimes } = await load('theirs', model, how);
    say(`${model.title}: comparing answers`);
    const asked = [captions(nCompared, 16), Array.from({ length: nCompared / 4 }, () => picture(theirs.reading.side))];
    const found = agreement(await ours.cosines(...asked), await theirs.cosines(...asked, card.embed_dim), nCompared / 4);
    outcome.agreements.push({ name: model.title, cosine: found, atLeast: model.atLeast, device: card.device });
    if (!(found >= model.atLeast))
        throw new Error(`${model.title}: the answers differ: cosine ${found}, expected at least ${model.atLeast}`);
    return { ours, theirs, device: card.device, times: { ours: times, theirs: theirTimes } };
};

// Calls of a model that both have loaded.
const calls = async (model, nRounds, which) => {
    const { ours, theirs } = await together(model, 16);
    await ask(model.title, nRounds, which, ours, theirs);
    [ours, theirs].forEach(side => side.end());
};

const loads = async (model, nRounds, isRunning) => {
    const rows = LOADS.slice(0, isRunning ? 1 : 3)
        .map(name => ({ name: `${model.title}, ${name}${isRunning ? ', in an engine that runs' : ''}`, unit: 'ms', ours: [], theirs: [] }));
    for (let i = 0; i < nRounds; i += 1)
        for (const side of ['ours', 'theirs']) {
            await forget();
            const { engine, times } = await load(side, model, { isRunning });
            rows.forEach((row, at) => row[side].push(times[at]));
            engine.end();
        }
    outcome.rows.push(...rows);
};
const LOADS = ['load the text tower to the first answer', 'first call, 4 × 16 tokens', 'load the image tower to the first answer'];

// Sides of the square matrices that are multiplied.
const PRODUCTS = [256, 512, 768, 1024];

const steps = {
    clip: nRounds => calls(CLIP, nRounds, ['1', '4', '8', 'prefixes', 'picture']),
    int8: nRounds => calls(INT8, nRounds, ['1', '4', '8', 'prefixes', 'picture']),
    photos: nRounds => calls(PHOTOS, nRounds, ['1', '4', 'picture']),
    async loading(nRounds) {
        const n = Math.ceil(nRounds / 3);
        await loads(CLIP, n, false);
        await loads(CLIP, n, true);
        await loads(PHOTOS, n, false);
    },
    // Our kernel alone; the driver asks the other side.
    async products() {
        const engine = await Ours.start('engine_cpu', `(${timeProducts})();`);
        const products = await engine.ask({ Products: PRODUCTS });
        PRODUCTS.forEach((n, i) => outcome.rows.push({ name: `${n}`, unit: 'ms', ours: products[i], theirs: [] }));
        engine.end();
    },
    // Both towers of one side in a tab of their own, whose memory the driver reads.
    ours: () => load('ours', CLIP),
    theirs: () => load('theirs', CLIP),
    // The GPU engines: on a software adapter a call takes up to a minute, so there are few. Weights without golden values are
    // held against what the CPU engine makes of them.
    async gpu(nRounds) {
        const expect = await expected(), model = { ...CLIP, title: 'GPU, ViT-B/32 f32' };
        const { ours, theirs, device, times } = await together(model, 8, { program: 'engine_gpu', provider: 'webgpu', expect });
        const row = (name, at) => ({ name: `${model.title}, ${name}`, unit: 'ms', ours: [times.ours[at]], theirs: [times.theirs[at]] });
        outcome.rows.push(...LOADS.map(row));
        const [n, which] = device.includes('in software') ? [2, ['4', 'picture']] : [nRounds, ['1', '4', '8', 'prefixes', 'picture']];
        await ask(model.title, n, which, ours, theirs);
    },
    // What our GPU engine dispatches for four captions and for a picture, and how long each kernel takes.
    async dispatches() {
        const how = { program: 'engine_gpu', before: `(${timeDispatches})();`, expect: await expected() };
        const { engine } = await load('ours', CLIP, how), pixels = () => picture(224);
        outcome.dispatches = [];
        for (const [of, call] of [['4 × 16 tokens', () => engine.text(captions(4, 16))], ['a picture', () => engine.picture(pixels())]]) {
            // Once before, for what is compiled.
            await call();
            await engine.ask('Dispatches');
            await call();
            const kernels = new Map();
            for (const { name, millis } of await engine.ask('Dispatches')) {
                const { n = 0, sum = 0 } = kernels.get(name) ?? {};
                kernels.set(name, { n: n + 1, sum: sum + millis });
            }
            kernels.forEach(({ n, sum }, name) => outcome.dispatches.push({ of, name, n, millis: sum }));
        }
    },
};

// What the CPU engine makes of a caption and a picture, once the browser has a GPU: a headless Chromium begins its GPU process
// anew at the first request for a real one, which then gets none.
const expected = async () => {
    for (let i = 0; i < 5 && !await navigator.gpu?.requestAdapter(); i += 1) await new Promise(go => { setTimeout(go, 1000) });
    say('GPU: the CPU engine tells what to expect');
    const { engine: cpu, card: { probe } } = await load('ours', CLIP), { embedding } = await cpu.ask('ProbePicture');
    cpu.end();
    return { caption: probe, picture: embedding };
};

window.bench = (step, nRounds) => {
    Object.assign(outcome, { rows: [], agreements: [], dispatches: [], progress: step, error: undefined, isDone: false });
    steps[step](nRounds).catch(error => { outcome.error = `${error.message ?? error}` }).finally(() => { outcome.isDone = true });
};
window.outcome = outcome;
