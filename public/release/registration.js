// Has the released page kept for use without a network, and tells when a newer version of it is there.
const workers = navigator.serviceWorker;
let isLeaving = false;

const offer = worker => {
  const notice = document.createElement('div');
  notice.id = 'renewed';
  notice.className = 'notices';
  notice.role = 'status';
  notice.innerHTML = `<p class="notice"><span>A new version of this page is ready. Your captions stay in the address.</span>
    <button type="button">Reload</button><button type="button" aria-label="Dismiss this message">×</button></p>`;
  const [reload, dismiss] = notice.querySelectorAll('button');
  reload.style.cssText = 'flex: none; color: inherit; font: inherit; text-decoration: underline';
  reload.onclick = () => {
    isLeaving = true;
    if (worker.state === 'activated') location.reload();
    else worker.postMessage('take over');
  };
  dismiss.onclick = () => notice.remove();
  document.getElementById('renewed')?.remove();
  document.getElementById('app').after(notice);
};

// Resolves once an engine answers.
const isReady = () => document.querySelector('[data-status="ready"]') !== null;
const ready = new Promise(resolve => {
  const watch = new MutationObserver(() => {
    if (!isReady()) return;
    watch.disconnect();
    resolve();
  });
  watch.observe(document.documentElement, { subtree: true, childList: true, attributeFilter: ['data-status'] });
});

const begin = async () => {
  // What is fetched ahead at the first visit waits until the visitor does not.
  const hadOne = workers.controller !== null;
  if (!hadOne) await ready;
  workers.addEventListener('controllerchange', () => {
    if (isLeaving) location.reload();
    else if (hadOne) offer(workers.controller);
  });
  const registration = await workers.register('service-worker.js', { updateViaCache: 'none' });
  const follow = worker => worker?.addEventListener('statechange', () => {
    if (worker.state === 'installed' && workers.controller) offer(worker);
  });
  follow(registration.installing);
  registration.addEventListener('updatefound', () => follow(registration.installing));
  if (registration.waiting && hadOne) offer(registration.waiting);
  await ready;
  const { active } = await workers.ready;
  const addressOf = name => document.querySelector(`meta[name="file:${name}"]`).content.split(' ')[0];
  active.postMessage({ keep: ['engine_cpu.js', 'engine_cpu_bg.wasm'].map(addressOf) });
};

// Who saves data has nothing fetched ahead.
if (workers && (workers.controller || !navigator.connection?.saveData)) {
  // Without it the page works; it only needs the network.
  begin().catch(error => console.info(`not kept for use without a network: ${error}`));
}
