import {get} from './api.js';
import {poll, verb, toast} from './app.js';
import {h, put, table, number, percent, duration, bytes, visible, decimal} from './dom.js';
import {workerTable} from './weights.js';
import {flameGraph} from './flame.js';

const micros = value => value < 1000 ? value + '\u202fµs' : duration(value / 1000);

export function page(root) {
  const nodes = h('div'), top = h('div', {class: 'grid'}), actors = h('div'), drawer = h('div');
  let sorted = 1, rows = [], open = '';
  root.append(h('h1', {}, 'Nodes and actors'), nodes, top, h('br'), h('section', {class: 'panel', 'aria-label': 'Actors'}, h('h2', {}, 'Actors of this process'), actors), drawer,
    h('div', {class: 'tools'}, h('button', {onclick: async () => { try { const text = await get('/threads'); drawer.replaceChildren(h('section', {class: 'panel', 'aria-label': 'Thread dump'}, h('h2', {}, 'Thread dump'), h('pre', {class: 'config mono', tabindex: 0}, visible(text)))); } catch (failure) { toast(failure.message); } }}, 'Thread dump'),
      h('button', {onclick: event => sample(event.currentTarget, drawer)}, 'Flame graph'),
      verb('limit', {}, [['groups', 'Most concurrent groups', '1']]), verb('log', {}, [['logger', 'Logger', 'io.troupe'], ['level', 'Level: TRACE, DEBUG, INFO, WARN, ERROR, OFF', 'DEBUG']])));
  const columns = [
    {name: 'actor', of: row => visible(row.path)}, {name: 'mailbox', num: true, by: row => row.depth, of: row => number(row.depth)}, {name: 'oldest waits', num: true, by: row => row.oldest_wait_millis, of: row => row.depth ? duration(row.oldest_wait_millis) : '–'},
    {name: 'handled', num: true, by: row => row.handled, of: row => number(row.handled)}, {name: 'a second', num: true, by: row => row.per_second, of: row => decimal(row.per_second, 1)},
    {name: 'slowest p99', num: true, by: row => worst(row), of: row => micros(worst(row))}, {name: 'restarts', num: true, by: row => row.restarts, of: row => number(row.restarts)}, {name: 'last error', of: row => visible(row.last_error || '–')}];
  const worst = row => Math.max(0, ...row.messages.map(one => one.p99_micros));
  const draw = () => {
    const order = rows.slice().sort((a, b) => columns[sorted].by(b) - columns[sorted].by(a) || a.path.localeCompare(b.path));
    put(actors, rows.length ? table('Actors', columns, order, {tall: true, sorted, sort: i => { sorted = i; draw(); }, row: row => ({class: 'pick', tabindex: 0, 'aria-selected': String(open === row.path), onclick: () => { open = open === row.path ? '' : row.path; draw(); }, onkeydown: event => { if (event.key === 'Enter') event.currentTarget.click(); }})}) : h('p', {class: 'empty'}, 'Actors are seen in the process of the run only: open the console of the run itself.'));
    const chosen = rows.find(row => row.path === open);
    if (chosen) put(actors, ...[...actors.childNodes].slice(0, 1), h('h2', {}, 'Messages of ' + chosen.path), table('Messages', [{name: 'type', of: row => row.type}, {name: 'count', num: true, of: row => number(row.count)}, {name: 'half within', num: true, of: row => micros(row.p50_micros)}, {name: '99 % within', num: true, of: row => micros(row.p99_micros)}, {name: '99 % waited at most', num: true, of: row => micros(row.wait_p99_micros)}], chosen.messages));
    const list = (title, by, words) => h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title), h('ol', {class: 'small'}, rows.filter(row => by(row) > 0).sort((a, b) => by(b) - by(a)).slice(0, 3).map(row => h('li', {}, visible(row.path.replace(/^.*\/user\//, '')), ': ', words(row)))), rows.some(row => by(row) > 0) ? '' : h('p', {class: 'soft small'}, 'none'));
    put(top, list('Deepest mailboxes', row => row.depth, row => number(row.depth)), list('Slowest messages', worst, row => micros(worst(row))), list('Most restarts', row => row.restarts, row => number(row.restarts)));
  };
  const a = poll('/nodes', list => put(nodes, list.map(node => h('section', {class: 'panel', 'aria-label': 'Node ' + node.node}, h('h2', {}, visible(node.node)), gauges(node.gauges), node.workers.some(one => one.present) ? workerTable(node.workers.filter(one => one.present)) : h('p', {class: 'soft'}, 'No worker is there.')))), 3000);
  const b = poll('/actors', list => { rows = list; draw(); }, 2000);
  return {update() {}, stop() { a.stop(); b.stop(); }, refresh() { a.now(); b.now(); }};
}

async function sample(button, drawer) {
  button.disabled = true;
  drawer.replaceChildren(h('section', {class: 'panel', 'aria-label': 'Flame graph'}, h('h2', {}, 'Flame graph'), h('p', {class: 'soft', role: 'status'}, 'Sampling the stacks of all threads for five seconds …')));
  try { drawer.replaceChildren(flameGraph(await get('/flame?seconds=5'))); drawer.scrollIntoView({block: 'nearest'}); } catch (failure) { drawer.replaceChildren(); toast(failure.message); } finally { button.disabled = false; }
}

function gauges(of) {
  if (!Object.keys(of).length) return null;
  const fact = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
  return h('dl', {class: 'facts small'}, fact('heap', `${bytes(of.heap_used_bytes)} of ${bytes(of.heap_max_bytes)}`), fact('memory of the machine', `${bytes(of.machine_memory_bytes - of.machine_memory_free_bytes)} of ${bytes(of.machine_memory_bytes)} used`),
    fact('processor', `this process ${percent(of.process_cpu_share)}, machine ${percent(of.machine_cpu_share)} of ${of.cores} cores`), fact('threads', number(of.threads)));
}
