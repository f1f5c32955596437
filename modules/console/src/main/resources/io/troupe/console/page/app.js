import {get, order, stream} from './api.js';
import {h, put, number, duration, visible} from './dom.js';
import * as loop from './loop.js';
import * as learning from './learning.js';
import * as groups from './groups.js';
import * as staleness from './staleness.js';
import * as weights from './weights.js';
import * as nodes from './nodes.js';
import * as tried from './try.js';
import * as waits from './waits.js';
import * as history from './history.js';
import * as prediction from './prediction.js';
import * as provenance from './provenance.js';

const PAGES = [
  ['', 'Loop', 'l', loop], ['learning', 'Learning', 'e', learning], ['groups', 'Groups', 'g', groups], ['staleness', 'Staleness', 's', staleness],
  ['weights', 'Weights', 'w', weights], ['nodes', 'Nodes, actors', 'n', nodes], ['try', 'Try', 't', tried], ['waits', 'Waits', 'a', waits], ['history', 'History', 'h', history], ['prediction', 'Prediction', 'd', prediction],
  ['provenance', 'Provenance', 'p', provenance]];
const ROWS = 20000, FEED = 500, STALE_MILLIS = 6000, ALARM_MILLIS = 10000;

export const state = {about: null, run: null, rows: [], feed: [], marks: [], heardAt: 0, lost: '', alarms: []};
const bar = document.getElementById('bar'), nav = document.getElementById('nav'), page = document.getElementById('page'), dialog = document.getElementById('ask');
let current = null, shown = '', dirty = false, visits = {awaited: 0};

// --- verbs ---

const TITLES = {
  pause: ['Pause admission', 'Groups under way finish; nothing new is admitted until somebody resumes.'],
  resume: ['Resume admission', 'New groups may start again.'],
  checkpoint: ['Checkpoint now', 'Everything a resume needs is saved, at once or when the running step ends.'],
  drain: ['Drain the run', 'Groups in flight may finish, everything is saved, and the run ends. It can be resumed.'],
  requeue: ['Requeue group', 'It is taken from its worker, or out of the buffer, and sampled again first in line.'],
  cancel: ['Cancel group', 'It is given up for this epoch and counts as failed.'],
  'drain node': ['Drain node', 'Its workers finish their groups, and it leaves the cluster; the run continues with the others.'],
  'drain worker': ['Drain worker', 'It finishes its groups and ends; it is not started again. The last worker cannot be drained: drain the run.'],
  quarantine: ['Quarantine verifier', 'It gets no new completions, and the one it is at is judged by another. The last one of its pool stays at work.'],
  release: ['Release verifier', 'It gets completions again.'],
  restart: ['Restart worker', 'Its leases are lost and reissued; it starts anew under a new name.'],
  limit: ['Limit concurrent groups', 'Fewer groups under lease at a time; those under way go on. The bound on staleness is not changed: it is what the run is an experiment on.'],
  log: ['Change the log level', 'Of one logger of this process, until the run ends.']};

export function verb(name, details = {}, fields = []) {
  const danger = name === 'drain' && !details.worker && !details.node || name === 'cancel', title = titleOf(name, details);
  return h('button', {class: danger && 'danger', disabled: !state.about || !state.about.live, title: state.about && !state.about.live ? 'this is a run’s folder; verbs need the run itself' : title[1], onclick: () => ask(name, details, fields)}, title[0].replace(/ (admission|group|worker|verifier|node|the run|now)$/, ''));
}

const titleOf = (name, details) => TITLES[details.node ? name + ' node' : details.worker && name === 'drain' ? 'drain worker' : name];

function ask(name, details, fields) {
  const title = titleOf(name, details);
  const by = h('input', {type: 'text', id: 'ask-by', maxlength: 500, value: localStorage.getItem('troupe.by') || 'operator', autocomplete: 'off'}), why = h('input', {type: 'text', id: 'ask-why', maxlength: 500, placeholder: 'kept in the journal', autocomplete: 'off'});
  const inputs = fields.map(([key, label, value]) => h('input', {type: 'text', id: 'ask-' + key, 'data-key': key, value}));
  const form = h('form', {method: 'dialog', onsubmit: async event => {
    event.preventDefault();
    localStorage.setItem('troupe.by', by.value);
    const body = {verb: name, by: by.value, why: why.value, ...details};
    inputs.forEach(input => body[input.dataset.key] = input.value);
    dialog.close();
    try { await order(body); toast(`${title[0]}: taken and journalled`); if (current && current.refresh) current.refresh(); }
    catch (failure) { toast(`${title[0]}: ${failure.message}`); }
  }},
  h('h1', {}, title[0] + (details.group ? ' g' + details.group : details.worker || details.node || details.verifier ? ' ' + (details.worker || details.node || details.verifier) : '')), h('p', {class: 'soft'}, title[1]),
  fields.map(([key, label], i) => h('label', {for: 'ask-' + key}, label, inputs[i])), h('label', {for: 'ask-by'}, 'Who asks', by), h('label', {for: 'ask-why'}, 'Why', why),
  h('div', {class: 'tools'}, h('button', {type: 'button', onclick: () => dialog.close()}, 'Not now'), h('button', {class: 'primary', type: 'submit'}, title[0])));
  dialog.replaceChildren(form);
  dialog.setAttribute('aria-label', title[0]);
  dialog.showModal();
  (inputs[0] || why).focus();
}

export function toast(text) {
  const box = document.getElementById('toast');
  box.textContent = text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.textContent = '', 6000);
}

// --- the frame ---

const TONES = {running: 'good', starting: 'plain', draining: 'warn', saving: 'warn', ended: 'plain'};

function drawBar() {
  const run = state.run;
  if (!run) { put(bar, h('span', {class: 'name'}, 'Troupe'), h('span', {class: 'fact'}, state.lost ? visible('No answer: ' + state.lost) : 'connecting…')); return; }
  const facts = run.facts, took = (run.phase === 'ended' ? run.last_event_at : run.as_of) - run.since, word = run.paused && run.phase === 'running' ? 'paused' : run.phase;
  const left = run.phase === 'running' && run.version > 0 && facts.steps < 1e9 ? took / run.version * (facts.steps - run.version) : 0;
  const key = `${word}|${state.about && state.about.live}`;
  if (bar.dataset.key !== key) {
    bar.dataset.key = key;
    bar.replaceChildren(
      h('span', {class: 'name', title: facts.run}, visible(facts.run)), h('span', {class: 'pill tone-' + (word === 'paused' ? 'warn' : TONES[word] || 'plain')}, word),
      h('span', {class: 'fact', id: 'fact-step'}), h('span', {class: 'fact', id: 'fact-alarm'}), h('span', {class: 'fact', id: 'fact-time'}), h('span', {class: 'fact push age', id: 'fact-age'}),
      h('div', {class: 'verbs', role: 'group', 'aria-label': 'Verbs'}, run.paused ? verb('resume') : verb('pause'), verb('checkpoint'), verb('drain'),
        h('button', {'aria-label': 'Dark or light', title: 'dark or light', onclick: theme}, '◐')));
  }
  put(document.getElementById('fact-step'), 'step ', h('b', {}, number(run.version)), facts.steps < 1e9 ? ' of ' + number(facts.steps) : '', ' · ', h('b', {}, 'v' + run.version));
  put(document.getElementById('fact-time'), run.since ? duration(took) : '', left > 0 ? ` · about ${duration(left)} left` : '');
  put(document.getElementById('fact-alarm'), state.alarms.length ? h('a', {href: '#/prediction', class: 'pill tone-bad', title: state.alarms.join(' ')}, 'not as predicted') : '');
  document.title = `${word} ${run.version} · ${facts.run}`;
}

function drawAge() {
  const age = Date.now() - state.heardAt, stale = state.heardAt > 0 && age > STALE_MILLIS;
  document.body.classList.toggle('stale', stale);
  const fact = document.getElementById('fact-age');
  if (fact) fact.textContent = stale ? `no news for ${duration(age)}` : `as of ${duration(age)} ago`;
}

function theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  localStorage.setItem('troupe.theme', document.documentElement.dataset.theme = dark ? 'light' : 'dark');
}

function show() {
  const [path, rest = ''] = location.hash.replace(/^#\/?/, '').split('?'), name = path.split('/')[0];
  const found = PAGES.find(one => one[0] === name) || PAGES[0];
  put(nav.firstChild || nav.appendChild(h('ul')), PAGES.map(([at, title, key]) => h('li', {}, h('a', {href: '#/' + at, 'aria-current': at === found[0] ? 'page' : undefined}, title, h('kbd', {'aria-hidden': true}, 'g ' + key)))));
  if (shown !== name || !current) {
    if (current && current.stop) current.stop();
    shown = name;
    page.replaceChildren();
    const visit = visits = {awaited: 0};
    page.setAttribute('aria-busy', 'true');
    current = found[3].page(page, {state, argument: path.split('/').slice(1).join('/'), query: new URLSearchParams(rest)});
    if (name || location.hash) window.scrollTo(0, 0);
  } else if (current.go) current.go(path.split('/').slice(1).join('/'), new URLSearchParams(rest));
  if (state.run) current.update();
  loaded(visits);
}

// A page is busy until each thing it asked for has been answered once, and until then its panels
// are not seen: what is seen does not move.
function loaded(visit) {
  if (visit !== visits || visit.awaited > 0 || !(state.run || state.lost) || !page.hasAttribute('aria-busy')) return;
  page.removeAttribute('aria-busy');
  const first = page.querySelector('[data-first]');
  if (first) first.focus({preventScroll: true});
}

// Polls only while the page is looked at; the panel's own age is that of the last answer.
export function poll(path, use, millis = 2000) {
  let stopped = false, timer = 0, answered = false;
  const visit = visits;
  visit.awaited++;
  const once = async () => {
    clearTimeout(timer);
    if (stopped) return;
    if (!document.hidden) try { use(await get(typeof path === 'function' ? path() : path)); } catch (failure) { if (!stopped) toast(failure.message); }
    if (!answered) { answered = true; visit.awaited--; loaded(visit); }
    if (!stopped) timer = setTimeout(once, millis);
  };
  once();
  return {stop: () => { stopped = true; clearTimeout(timer); }, now: once};
}

let chord = 0;
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || dialog.open) return;
  if (event.key === '/') { const search = page.querySelector('input[type=search]'); if (search) { event.preventDefault(); search.focus(); } return; }
  if (event.key === '?') { toast('g then ' + PAGES.map(one => `${one[2]} ${one[1]}`).join(', ') + '; / search'); return; }
  if (event.key === 'g' && Date.now() - chord > 1200) { chord = Date.now(); return; }
  const found = Date.now() - chord < 1200 && PAGES.find(one => one[2] === event.key);
  if (found) { chord = 0; location.hash = '#/' + found[0]; page.focus(); }
});
addEventListener('hashchange', show);
document.addEventListener('visibilitychange', () => { if (!document.hidden && current && current.refresh) current.refresh(); });

const saved = localStorage.getItem('troupe.theme');
if (saved) document.documentElement.dataset.theme = saved;
drawBar();
show();
setInterval(drawAge, 500);
setInterval(() => { if (dirty && current && !document.hidden && state.run) { dirty = false; drawBar(); current.update(); drawAge(); loaded(visits); } }, 250);
const marks = async () => { try { state.about = await get('/about'); state.marks = await get('/marks'); bar.dataset.key = ''; dirty = true; } catch (failure) { state.lost = failure.message; drawBar(); } };
marks();
// Never begins to predict: that is for the page, or for a model that lies in the run folder.
const alarms = async () => { if (!document.hidden) try { state.alarms = (await get('/prediction?begin=0')).alarms; dirty = true; } catch { state.alarms = []; } setTimeout(alarms, ALARM_MILLIS); };
alarms();
stream((kind, data) => {
  if (kind === 'lost') { state.lost = data; if (!state.run) { drawBar(); loaded(visits); } return; }
  state.heardAt = Date.now();
  if (!state.about) marks();
  if (kind === 'rows') { state.rows = state.rows.concat(data).slice(-ROWS); state.rowsChanged = true; }
  if (kind === 'feed') { const known = state.feed.length ? state.feed[state.feed.length - 1].sequence : 0; if (data[0].sequence <= known) state.feed = []; state.feed = state.feed.concat(data).slice(-FEED); if (data.some(one => /Order|Resumed/.test(one.type))) marks(); }
  if (kind === 'run') state.run = data;
  dirty = true;
});
