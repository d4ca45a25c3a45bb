// Has the released page kept for use without a network, and tells when a newer version of it is there.
const workers = navigator.serviceWorker;
let isLeaving = false;

// Resolves with the first element that a selector names, once the document has one.
const arrival = selector => new Promise(resolve => {
  const look = () => {
    const found = document.querySelector(selector);
    if (!found) return;
    watch.disconnect();
    resolve(found);
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { subtree: true, childList: true, attributeFilter: ['data-status', 'hidden'] });
  look();
});

const offer = async worker => {
  // Beneath the page's messages, or with the notice that its program could not be loaded.
  const messages = await arrival('.notices, #failure:not([hidden])');
  const notice = document.createElement('p');
  notice.id = 'renewed';
  notice.className = 'notice';
  notice.innerHTML = `<span>A new version of this page is ready. Your captions stay in the address.</span>
    <button type="button">Reload</button><button type="button" aria-label="Dismiss this message">×</button>`;
  const [reload, dismiss] = notice.querySelectorAll('button');
  reload.style.cssText = 'flex: none; color: inherit; font: inherit; text-decoration: underline';
  reload.onclick = () => {
    isLeaving = true;
    if (worker.state === 'activated') location.reload();
    else worker.postMessage('take over');
  };
  dismiss.onclick = () => notice.remove();
  document.getElementById('renewed')?.remove();
  messages.prepend(notice);
};

// Resolves once an engine answers.
const ready = arrival('[data-status="ready"]');

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

const begin = async () => {
  // What is fetched ahead at the first visit waits until the visitor does not; later ones wait a little for an answer.
  const hadOne = workers.controller !== null;
  await (hadOne ? Promise.race([ready, pause(1000)]) : ready);
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
