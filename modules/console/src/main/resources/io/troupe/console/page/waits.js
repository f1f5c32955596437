import {poll} from './app.js';
import {h, s, put, table, duration, visible} from './dom.js';

const BOX = 170, TALL = 34, GAP = 84, ROW = 50;

export function page(root) {
  const lead = h('p', {class: 'lead'}), graph = h('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Who waits for whom'}), list = h('div');
  root.append(h('h1', {}, 'Waits'), lead, h('section', {class: 'panel', 'aria-label': 'Graph'}, h('h2', {}, 'An arrow points at what is waited for'), graph), h('section', {class: 'panel', 'aria-label': 'List'}, list));
  const feed = poll('/waits', data => {
    put(lead, visible(data.root));
    const folded = fold(data.waits);
    graph.replaceChildren(folded.length ? draw(folded) : h('p', {class: 'empty'}, 'Nobody waits for anybody.'));
    put(list, table('Waits', [{name: 'who', of: row => visible(row.who)}, {name: 'waits for', of: row => visible(row.on)}, {name: 'for', num: true, of: row => row.since ? duration(data.as_of - row.since) : '–'}, {name: 'because', of: row => visible(row.why)}], data.waits, {tall: true}));
  }, 1500);
  return {update() {}, stop: feed.stop, refresh: feed.now};
}

// Many that wait for the same thing stand together.
function fold(waits) {
  const by = new Map(), targets = new Set(waits.map(wait => wait.on));
  for (const wait of waits) { const key = wait.on; by.set(key, (by.get(key) || []).concat(wait)); }
  return [...by.values()].flatMap(list => { const plain = list.filter(wait => !targets.has(wait.who)); return plain.length > 4 ? list.filter(wait => targets.has(wait.who)).concat({who: plain.length + ' workers', on: list[0].on, why: plain.length + ' workers', since: Math.min(...plain.map(one => one.since))}) : list; });
}

function draw(waits) {
  const names = [...new Set(waits.flatMap(wait => [wait.who, wait.on]))], out = name => waits.filter(wait => wait.who === name).map(wait => wait.on);
  const depth = (name, seen = []) => seen.includes(name) || !out(name).length ? 0 : 1 + Math.max(...out(name).map(next => depth(next, seen.concat(name))));
  const columns = []; names.forEach(name => { const d = depth(name); (columns[d] = columns[d] || []).push(name); });
  const deepest = columns.length - 1, most = Math.max(...columns.filter(Boolean).map(one => one.length)), at = {};
  columns.forEach((list, d) => (list || []).forEach((name, i) => at[name] = [(deepest - d) * (BOX + GAP) + 4, (i + (most - list.length) / 2) * ROW + 4]));
  const width = (deepest + 1) * (BOX + GAP) - GAP + 8, height = most * ROW;
  return s('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': waits.map(wait => `${wait.who} waits for ${wait.on}: ${wait.why}`).join('; ')},
    s('defs', {}, s('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto'}, s('path', {class: 'arrow', d: 'M0 0L8 4L0 8Z'}))),
    waits.map(wait => { const [x, y] = at[wait.who], [X, Y] = at[wait.on]; return s('path', {class: 'edge', 'marker-end': 'url(#arrow)', d: `M${x + BOX} ${y + TALL / 2}C${x + BOX + GAP / 2} ${y + TALL / 2} ${X - GAP / 2} ${Y + TALL / 2} ${X} ${Y + TALL / 2}`}, s('title', {}, wait.why)); }),
    names.map(name => [s('rect', {class: 'node-box' + (out(name).length ? '' : ' root'), x: at[name][0], y: at[name][1], width: BOX, height: TALL, rx: 7}), s('text', {class: 'node-text', x: at[name][0] + BOX / 2, y: at[name][1] + 21, 'text-anchor': 'middle'}, name.length > 24 ? name.slice(0, 23) + '…' : name)]));
}
