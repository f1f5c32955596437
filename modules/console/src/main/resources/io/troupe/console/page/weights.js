import {poll, verb} from './app.js';
import {h, s, put, table, stack, number, time, duration, bytes, visible} from './dom.js';

const LANE = 20, STEP = LANE + 4, SPAN = 120000, ROOM = 60;

export function page(root) {
  const lead = h('p', {class: 'lead'}), nodes = h('div'), lanes = wide('Versions each worker held'), workers = h('div');
  root.append(h('h1', {}, 'Weights'), lead, nodes, h('section', {class: 'panel', 'aria-label': 'Lanes'}, h('h2', {}, 'A lane a worker, a bar a version: the last two minutes'), lanes), h('section', {class: 'panel', 'aria-label': 'Workers'}, h('h2', {}, 'Workers'), workers));
  const feed = poll('/weights', data => {
    const here = data.workers.filter(one => one.present), late = here.filter(one => one.behind > 0), least = late.slice().sort((a, b) => b.behind - a.behind)[0];
    put(lead, !here.length ? `The newest weights are v${data.version}. No worker is there.` : !late.length ? `All ${here.length} workers hold v${data.version}.` : `v${data.version} is seen at ${here.length - late.length} of ${here.length} workers. ${least.worker} is furthest behind: ${least.behind} version${least.behind > 1 ? 's' : ''}.`);
    put(nodes, data.nodes.length ? transfers(data) : null);
    lanes.replaceChildren(workerLanes(data, here.concat(data.workers.filter(one => !one.present).slice(-4)), lanes.clientWidth));
    put(workers, here.length ? workerTable(here) : h('p', {class: 'empty'}, 'No worker has asked for work yet.'));
  });
  return {update() {}, stop: feed.stop, refresh: feed.now};
}

const wide = label => h('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': label});

// Names of workers differ at their ends.
const ending = (name, most) => name.length > most ? '…' + name.slice(1 - most) : name;

function workerLanes(data, rows, room) {
  const narrow = room > 0 && room < 700, W = narrow ? Math.max(520, room) : 1100, left = narrow ? 92 : 170, to = data.as_of, height = rows.length * STEP + 24;
  const from = Math.max(to - SPAN, Math.min(to - 1000, ...rows.map(one => one.since))), X = at => left + (Math.max(from, at) - from) / (to - from) * (W - left - ROOM);
  const bars = (one, i) => one.bars.filter(bar => bar.until >= from).map((bar, at, all) => {
    const x = X(bar.from), width = Math.max(1, X(bar.until) - x - 1);
    return [s('rect', {class: at === all.length - 1 && one.behind > 0 ? 'lane-late' : bar.version % 2 ? 'lane-a' : 'lane-b', x, y: i * STEP, width, height: LANE, rx: 2}, s('title', {}, `v${bar.version}`)), width > 34 ? s('text', {x: x + 5, y: i * STEP + 14, class: 'lane-text'}, 'v' + bar.version) : null];
  });
  return s('svg', {viewBox: `0 0 ${W} ${height}`, width: W, height, role: 'img', 'aria-label': rows.map(one => `${one.worker} holds v${one.version}`).join(', ')},
    data.published.filter(bar => bar.from >= from).slice(-200).map(bar => s('line', {class: 'axis', x1: X(bar.from), x2: X(bar.from), y1: 0, y2: height - 20})),
    rows.map((one, i) => [
      s('text', {x: left - 8, y: i * STEP + 14, 'text-anchor': 'end'}, ending(one.worker, narrow ? 12 : 24), s('title', {}, one.worker)),
      bars(one, i),
      s('text', {x: W - 54, y: i * STEP + 14}, one.version < 0 ? '–' : 'v' + one.version)]),
    s('text', {x: left, y: height - 5}, new Date(from).toLocaleTimeString('en-GB')), s('text', {x: W - 62, y: height - 5, 'text-anchor': 'end'}, new Date(to).toLocaleTimeString('en-GB')));
}

const troubled = node => node.behind > 0 || node.trouble !== '';

// How weights came to each node: one transfer a node, however many workers are on it.
function transfers(data) {
  const slowest = Math.max(1, ...data.nodes.flatMap(node => node.transfers.filter(one => !one.failure).map(one => one.millis))), late = data.nodes.filter(troubled).length;
  const last = node => node.transfers[node.transfers.length - 1], came = node => node.transfers.filter(one => !one.failure).map(one => one.millis).sort((a, b) => a - b);
  return h('section', {class: 'panel', 'aria-label': 'Transfers'}, h('h2', {}, `${data.nodes.length} node${data.nodes.length > 1 ? 's' : ''}` + (late ? `, ${late} behind or in trouble` : ', none behind')),
    table('Nodes', [
      {name: 'node', of: node => visible(node.node)}, {name: 'holds', num: true, of: node => node.version < 0 ? '–' : 'v' + node.version}, {name: 'behind', num: true, of: node => String(node.behind)},
      {name: 'digest', of: node => h('span', {class: 'mono', title: last(node)?.digest || ''}, (last(node)?.digest || '–').slice(0, 12))},
      {name: 'last transfers', of: node => lane(node, slowest)},
      {name: 'last', num: true, of: node => last(node) ? duration(last(node).millis) : '–'}, {name: 'half within', num: true, of: node => came(node).length ? duration(came(node)[came(node).length >> 1]) : '–'},
      {name: 'over the network', num: true, of: node => last(node) ? bytes(last(node).fetched) : '–'}, {name: 'reused', num: true, of: node => last(node) ? bytes(last(node).reused) : '–'},
      {name: 'trouble', of: node => visible([node.trouble, last(node)?.failure].filter(Boolean).join(': ') || '–')}], data.nodes.slice().sort((a, b) => troubled(b) - troubled(a)), {tall: true}));
}

function lane(node, slowest) {
  const bar = 6, height = 16;
  return s('svg', {viewBox: `0 0 ${32 * bar} ${height}`, width: 32 * bar, height, role: 'img', 'aria-label': node.transfers.map(one => `v${one.version} ${one.failure || `in ${duration(one.millis)}`}`).slice(-4).join(', ') || 'no transfer yet'},
    node.transfers.map((one, i) => { const tall = one.failure ? height : Math.max(2, one.millis / slowest * height); return s('rect', {class: one.failure ? 'lane-late' : 'lane-a', x: i * bar, y: height - tall, width: bar - 1, height: tall}, s('title', {}, `v${one.version}: ${one.failure || duration(one.millis)}`)); }));
}

export const workerTable = rows => table('Workers', [
  {name: 'worker', of: row => visible(row.worker)}, {name: 'holds', num: true, of: row => row.version < 0 ? '–' : 'v' + row.version}, {name: 'behind', num: true, of: row => String(row.behind)},
  {name: 'last minute', of: row => h('div', {class: 'bar-cell'}, stack(row.shares))}, {name: 'groups held', num: true, of: row => String(row.holds)}, {name: 'being judged', num: true, of: row => String(row.verifying)},
  {name: 'would take', num: true, of: row => String(row.demand)}, {name: 'answered', num: true, of: row => number(row.answered)}, {name: 'tokens', num: true, of: row => number(row.tokens)}, {name: 'last answer', num: true, of: row => time(row.last_answer_at)}, {name: '', of: row => h('div', {class: 'verbs'}, verb('restart', {worker: row.worker}), verb('drain', {worker: row.worker}))}], rows, {tall: true});
