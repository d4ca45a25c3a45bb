// Keeps the released page for use without a network. Each file is kept under the hash of its content, so that nothing is
// fetched twice and files of two versions never meet. `cargo xtask dist` writes the list.
const FILES = {}; // path: hash of the content, in Base64
const SHELL = []; // paths of what the page needs to open

const scope = self.registration.scope;
const store = () => caches.open(`kappascope ${scope}`);
const addressOf = path => new URL(path, scope);
const keyOf = path => new URL(`${path}?sha256=${encodeURIComponent(FILES[path])}`, scope).href;
const isListed = path => Object.hasOwn(FILES, path);

// The name in the list of what is asked for; the page itself has the empty name.
const pathOf = address => {
  const { origin, pathname } = new URL(address);
  const path = (origin + pathname).slice(scope.length);
  return path === 'index.html' ? '' : path;
};

const fetchListed = path => {
  const integrity = `sha256-${FILES[path]}`;
  const ask = cache => fetch(addressOf(path), { integrity, cache });
  // What the page has just fetched is not asked for again, whatever its age; that may be the file of another version.
  return ask('force-cache').catch(() => ask('reload'));
};

const keep = async (path, response) => {
  // A file that the disk has no room for is fetched again.
  await (await store()).put(keyOf(path), response).catch(() => {});
};

const keepAll = async paths => {
  const kept = await store();
  for (const path of paths.filter(isListed)) {
    if (await kept.match(keyOf(path))) continue;
    const response = await fetchListed(path);
    if (!response.ok) throw new Error(`${path}: the server answered ${response.status}`);
    await keep(path, response);
  }
};

const removeUnlisted = async () => {
  const kept = await store(), listed = new Set(Object.keys(FILES).map(keyOf));
  const keys = await kept.keys();
  await Promise.all(keys.filter(key => !listed.has(key.url)).map(key => kept.delete(key)));
};

// Everything that the page fetches from elsewhere is asked for with CORS, so that isolation keeps nothing out.
const isolated = response => {
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
};

const answer = async (event, path) => {
  const kept = await (await store()).match(keyOf(path));
  // What is of another version is the page's to refuse: it knows what it wants, and has the words.
  const response = kept ?? await fetchListed(path).catch(() => fetch(event.request));
  if (!kept && response.ok) event.waitUntil(keep(path, response.clone()));
  return path === '' && response.ok ? isolated(response) : response;
};

self.addEventListener('install', event => event.waitUntil(keepAll(SHELL)));
self.addEventListener('activate', event => event.waitUntil(removeUnlisted().then(() => self.clients.claim())));
self.addEventListener('message', event => {
  if (event.data === 'take over') self.skipWaiting();
  else event.waitUntil(keepAll(event.data.keep ?? []));
});
self.addEventListener('fetch', event => {
  const { request } = event, path = pathOf(request.url);
  // Parts of files are weights, which engines keep themselves.
  const isOurs = request.method === 'GET' && request.url.startsWith(scope) && !request.headers.has('range');
  if (isOurs && isListed(path)) event.respondWith(answer(event, path));
});
