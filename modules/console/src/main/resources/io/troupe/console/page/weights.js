import {poll, verb} from './app.js';
import {h, s, put, table, stack, number, time, visible} from './dom.js';

const W = 1100, LANE = 20, LEFT = 170;

export function page(root, {state}) {
  const lead = h('p', {class: 'lead'}), lanes = h('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Versions each worker held'}), workers = h('div');
  root.append(h('h1', {}, 'Weights'), lead, h('section', {class: 'panel', 'aria-label': 'Lanes'}, h('h2', {}, 'A lane a worker, a bar a version: the last two minutes'), lanes), h('section', {class: 'panel', 'aria-label': 'Workers'}, h('h2', {}, 'Workers'), workers));
  const feed = poll('/weights', data => {
    const here = data.workers.filter(one => one.present), late = here.filter(one => one.behind > 0), least = late.slice().sort((a, b) => b.behind - a.behind)[0];
    put(lead, !here.length ? `The newest weights are v${data.version}. No worker is there.` : !late.length ? `All ${here.length} workers hold v${data.version}.` : `v${data.version} is seen at ${here.length - late.length} of ${here.length} workers. ${least.worker} is furthest behind: ${least.behind} version${least.behind > 1 ? 's' : ''}.`);
    const to = data.as_of, from = Math.max(to - 120000, Math.min(to - 1000, ...data.workers.map(one => one.since))), X = at => LEFT + (Math.max(from, at) - from) / (to - from) * (W - LEFT - 60);
    const drawn = here.concat(data.workers.filter(one => !one.present).slice(-4));
    const height = drawn.length * (LANE + 4) + 24;
    const ticks = data.published.filter(bar => bar.from >= from).slice(-200);
    lanes.replaceChildren(s('svg', {viewBox: `0 0 ${W} ${height}`, width: W, height, role: 'img', 'aria-label': drawn.map(one => `${one.worker} holds v${one.version}`).join(', ')},
      ticks.map(bar => s('line', {class: 'axis', x1: X(bar.from), x2: X(bar.from), y1: 0, y2: height - 20})),
      drawn.map((one, i) => [
        s('text', {x: LEFT - 8, y: i * (LANE + 4) + 14, 'text-anchor': 'end'}, one.worker.length > 24 ? one.worker.slice(0, 23) + '…' : one.worker),
        one.bars.filter(bar => bar.until >= from).map((bar, at, all) => { const x = X(bar.from), wide = Math.max(1, X(bar.until) - x - 1); return [s('rect', {class: at === all.length - 1 && one.behind > 0 ? 'lane-late' : bar.version % 2 ? 'lane-a' : 'lane-b', x, y: i * (LANE + 4), width: wide, height: LANE, rx: 2}, s('title', {}, `v${bar.version}`)), wide > 34 ? s('text', {x: x + 5, y: i * (LANE + 4) + 14, class: 'lane-text'}, 'v' + bar.version) : null]; }),
        s('text', {x: W - 54, y: i * (LANE + 4) + 14}, one.version < 0 ? '–' : 'v' + one.version)]),
      s('text', {x: LEFT, y: height - 5}, new Date(from).toLocaleTimeString('en-GB')), s('text', {x: W - 62, y: height - 5, 'text-anchor': 'end'}, new Date(to).toLocaleTimeString('en-GB'))));
    put(workers, here.length ? workerTable(data.workers.filter(one => one.present)) : h('p', {class: 'empty'}, 'No worker has asked for work yet.'));
  });
  return {update() {}, stop: feed.stop, refresh: feed.now};
}

export const workerTable = rows => table('Workers', [
  {name: 'worker', of: row => visible(row.worker)}, {name: 'holds', num: true, of: row => row.version < 0 ? '–' : 'v' + row.version}, {name: 'behind', num: true, of: row => String(row.behind)},
  {name: 'last minute', of: row => h('div', {class: 'bar-cell'}, stack(row.shares))}, {name: 'groups held', num: true, of: row => String(row.holds)}, {name: 'being judged', num: true, of: row => String(row.verifying)},
  {name: 'would take', num: true, of: row => String(row.demand)}, {name: 'answered', num: true, of: row => number(row.answered)}, {name: 'tokens', num: true, of: row => number(row.tokens)}, {name: 'last answer', num: true, of: row => time(row.last_answer_at)}, {name: '', of: row => h('div', {class: 'verbs'}, verb('restart', {worker: row.worker}), verb('drain', {worker: row.worker}))}], rows, {tall: true});
