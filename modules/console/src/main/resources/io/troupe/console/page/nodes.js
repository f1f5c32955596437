import {poll, verb} from './app.js';
import {h, put, table, number, duration, visible, decimal} from './dom.js';
import {workerTable} from './weights.js';
import {fleet, gpuMap} from './gpus.js';
import {inspector, load, processTable, verifierTable} from './processes.js';

const micros = value => value < 1000 ? value + '\u202fµs' : duration(value / 1000);

export function page(root) {
  const nodes = h('div'), top = h('div', {class: 'grid'}), actors = h('div'), drawer = h('div');
  let sorted = 2, rows = [], open = '';
  const inspect = inspector(drawer);
  root.append(h('h1', {}, 'Nodes and actors'), nodes,
    h('div', {class: 'tools'}, inspect.tools, verb('limit', {}, [['groups', 'Most concurrent groups', '1']]), verb('log', {}, [['logger', 'Logger', 'io.troupe'], ['level', 'Level: TRACE, DEBUG, INFO, WARN, ERROR, OFF', 'DEBUG']])),
    drawer, top, h('br'), h('section', {class: 'panel', 'aria-label': 'Actors'}, h('h2', {}, 'Actors'), actors));
  const columns = [
    {name: 'process', of: row => visible(row.jvm)}, {name: 'actor', of: row => visible(row.path)}, {name: 'mailbox', num: true, by: row => row.depth, of: row => number(row.depth)}, {name: 'oldest waits', num: true, by: row => row.oldest_wait_millis, of: row => row.depth ? duration(row.oldest_wait_millis) : '–'},
    {name: 'handled', num: true, by: row => row.handled, of: row => number(row.handled)}, {name: 'a second', num: true, by: row => row.per_second, of: row => decimal(row.per_second, 1)},
    {name: 'slowest p99', num: true, by: row => worst(row), of: row => micros(worst(row))}, {name: 'restarts', num: true, by: row => row.restarts, of: row => number(row.restarts)}, {name: 'last error', of: row => visible(row.last_error || '–')}];
  const key = row => row.jvm + ' ' + row.path;
  const worst = row => Math.max(0, ...row.messages.map(one => one.p99_micros));
  const draw = () => {
    const order = rows.slice().sort((a, b) => columns[sorted].by(b) - columns[sorted].by(a) || key(a).localeCompare(key(b)));
    put(actors, rows.length ? table('Actors', columns, order, {tall: true, sorted, sort: i => { sorted = i; draw(); }, row: row => ({class: 'pick', tabindex: 0, 'aria-selected': String(open === key(row)), onclick: () => { open = open === key(row) ? '' : key(row); draw(); }, onkeydown: event => { if (event.key === 'Enter') event.currentTarget.click(); }})}) : h('p', {class: 'empty'}, 'Actors are seen in the process of the run only: open the console of the run itself.'));
    const chosen = rows.find(row => key(row) === open);
    if (chosen) put(actors, ...[...actors.childNodes].slice(0, 1), h('h2', {}, visible(`Messages of ${chosen.path} in ${chosen.jvm}`)), table('Messages', [{name: 'type', of: row => row.type}, {name: 'count', num: true, of: row => number(row.count)}, {name: 'half within', num: true, of: row => micros(row.p50_micros)}, {name: '99 % within', num: true, of: row => micros(row.p99_micros)}, {name: '99 % waited at most', num: true, of: row => micros(row.wait_p99_micros)}], chosen.messages));
    const list = (title, by, words) => h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title), h('ol', {class: 'small'}, rows.filter(row => by(row) > 0).sort((a, b) => by(b) - by(a)).slice(0, 3).map(row => h('li', {}, visible(row.path.replace(/^.*\/user\//, '')), ': ', words(row)))), rows.some(row => by(row) > 0) ? '' : h('p', {class: 'soft small'}, 'none'));
    put(top, list('Deepest mailboxes', row => row.depth, row => number(row.depth)), list('Slowest messages', worst, row => micros(worst(row))), list('Most restarts', row => row.restarts, row => number(row.restarts)));
  };
  const a = poll('/nodes', list => {
    inspect.update(list.flatMap(node => node.jvms.map(one => one.jvm)).sort((a, b) => (b === 'coordinator') - (a === 'coordinator') || a.localeCompare(b)));
    put(nodes, fleet(list), list.map(node => panel(node, list.length > 4)));
  }, 3000);
  const b = poll('/actors', list => { rows = list; draw(); }, 2000);
  return {update() {}, stop() { a.stop(); b.stop(); }, refresh() { a.now(); b.now(); }};
}

function known(of) {
  const fact = (name, value) => [h('dt', {}, name), h('dd', {}, visible(value))];
  return h('dl', {class: 'facts small'}, of.placement ? fact('placement', of.placement) : null, of.version >= 0 ? fact('weights', `v${of.version}` + (of.behind > 0 ? `, ${of.behind} behind` : '')) : null, of.trouble ? fact('trouble', of.trouble) : null);
}

// Of many nodes each shows its accelerators, and the rest when it is opened.
function panel(node, folded) {
  const workers = node.workers.filter(one => one.present), rest = [processTable(node.jvms), workers.length ? [h('h2', {}, 'Workers'), workerTable(workers)] : h('p', {class: 'soft'}, 'No worker is there.'), verifierTable(node.jvms)];
  return h('section', {class: 'panel node', 'aria-label': 'Node ' + node.node, 'data-key': node.node},
    h('div', {class: 'tools'}, h('h2', {}, visible(node.node)), node.drainable ? verb('drain', {node: node.node}) : null),
    folded ? null : load(node.gauges), node.facts.map(known), gpuMap(node.gpus), folded ? details(node, [load(node.gauges), rest]) : rest);
}

const opened = new Set(), count = (many, word, plural = 's') => `${many} ${word}${many === 1 ? '' : plural}`;
function details(node, content) {
  const open = opened.has(node.node);
  return h('details', {open, 'data-key': node.node + open}, h('summary', {onclick: event => { event.preventDefault(); const at = event.currentTarget.parentElement; at.open = !at.open; if (at.open) opened.add(node.node); else opened.delete(node.node); }}, `${count(node.workers.filter(one => one.present).length, 'worker')}, ${count(node.jvms.length, 'process', 'es')}`), content);
}
