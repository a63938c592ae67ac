// Keeps an open page as it is now: elements are replaced by their ids. Tabs share one stream, since
// a browser opens few connections to one server.
'use strict';
(() => {
  const root = document.documentElement, base = root.dataset.base, mine = root.dataset.view;
  if (!mine) return;
  let version = root.dataset.version;
  const tab = Math.random().toString(36).slice(2);
  const link = document.getElementById('link');
  const shared = 'locks' in navigator && 'BroadcastChannel' in window;
  const bus = shared ? new BroadcastChannel('rolemanager ' + base) : null;
  const views = new Map(); // of this tab, and of the others while this one has the stream
  let source = null, heard = 0, pending = 0, leads = false, trouble = '';

  // Times are shown as how long ago they were. The exact time is in the title.
  const ago = ms => {
    const s = Math.floor(ms / 1000), a = Math.abs(s);
    const text = a < 60 ? a + ' s' : a < 3600 ? Math.floor(a / 60) + ' min' : a < 172800 ?
      Math.floor(a / 3600) + ' h' : Math.floor(a / 86400) + ' d';
    return s < -1 ? 'in ' + text : text;
  };
  const times = within => {
    for (const t of within.querySelectorAll('time[data-t]')) {
      const at = +t.dataset.t, text = ago(Date.now() - at) + (t.dataset.after || '');
      if (t.textContent !== text) t.textContent = text;
      if (!t.title) t.title = new Date(at).toLocaleString();
    }
  };

  const say = (state, text) => {
    if (link.dataset.state === state && link.textContent === text) return;
    link.dataset.state = state;
    link.textContent = text;
  };

  // like finds the element that has taken the place of one: by its id, or by where it leads.
  const like = (e, within) => e.id ? document.getElementById(e.id) : [...within.querySelectorAll(e.tagName)].find(
    n => n.getAttribute('href') === e.getAttribute('href') && n.getAttribute('aria-label') === e.getAttribute('aria-label'));

  // While the pointer is pressed, for 10 s at most, elements stay: the click on one that is replaced
  // between press and release would be lost.
  let held = null, limit = 0;
  const free = () => {
    clearTimeout(limit);
    const all = held || [];
    held = null;
    all.forEach(swap);
  };
  addEventListener('pointerdown', () => {
    held ||= [];
    clearTimeout(limit);
    limit = setTimeout(free, 10000);
  }, true);
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(free), true);

  const swap = ({ id, html }) => {
    if (held) return held.push({ id, html });
    const old = document.getElementById(id);
    if (!old) return;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const open = [...old.querySelectorAll('details[open][id]')].map(d => d.id);
    old.outerHTML = html;
    const now = document.getElementById(id);
    if (!now) return;
    for (const d of open) document.getElementById(d)?.setAttribute('open', '');
    if (focused) like(focused, now)?.focus({ preventScroll: true });
    if (now.tagName === 'TR') now.classList.add('fresh');
    times(now);
  };

  const take = m => {
    heard = Date.now();
    if (m.lost) return say('lost', 'connection lost: this is old');
    if (m.view && m.view !== mine) return;
    (m.swaps || []).forEach(swap);
    if (m.id) version = m.id;
    if (m.view) trouble = m.trouble || '';
    if (trouble) say('lost', trouble); else say('live', 'live');
  };
  const tell = m => {
    if (m.id) for (const v of views.values()) if (v.view === m.view) v.version = m.id;
    take(m); 
    if (bus) bus.postMessage({ swap: m });
  };

  // oldest is the rendering that every view has: those behind it are sent again.
  const oldest = () => {
    const all = [...views.values()].map(v => v.version), boot = all[0].split('-')[0];
    if (all.some(v => v.split('-')[0] !== boot)) return '';
    return boot + '-' + Math.min(...all.map(v => +v.split('-')[1]));
  };
  const follow = () => {
    pending = 0;
    if (source) source.close();
    const names = [...new Set([...views.values()].map(v => v.view))].slice(0, 16);
    source = new EventSource(base + '/live?since=' + oldest() + names.map(v => '&view=' + encodeURIComponent(v)).join(''));
    source.onopen = () => tell({});
    source.onerror = () => {
      tell({ lost: true });
      if (source.readyState === 2 && !pending) pending = setTimeout(follow, 5000); // refused: ask again
    };
    source.addEventListener('swap', e => tell({ ...JSON.parse(e.data), id: e.lastEventId }));
  };
  const soon = () => { clearTimeout(pending); pending = setTimeout(follow, 50); };

  const lead = () => {
    leads = true;
    views.set(tab, { view: mine, version });
    if (bus) bus.postMessage({ who: true });
    soon();
  };
  if (bus) {
    bus.onmessage = ({ data: m }) => {
      if (m.swap) take(m.swap);
      if (m.who) bus.postMessage({ here: tab, view: mine, version });
      if (!leads) return;
      if (m.here && views.get(m.here)?.view !== m.view) {
        const news = ![...views.values()].some(v => v.view === m.view && v.version === m.version);
        views.set(m.here, { view: m.view, version: m.version });
        if (news) soon(); else tell({});
      }
      if (m.gone && views.delete(m.gone)) soon();
    };
    addEventListener('pagehide', () => bus.postMessage({ gone: tab }));
    addEventListener('pageshow', e => { if (e.persisted) location.reload(); });
    bus.postMessage({ here: tab, view: mine, version });
    navigator.locks.request('rolemanager ' + base, () => { lead(); return new Promise(() => {}); });
  } else {
    lead();
  }
  times(document);
  setInterval(() => times(document), 1000);
})();
