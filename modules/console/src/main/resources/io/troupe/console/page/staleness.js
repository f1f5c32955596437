import {poll} from './app.js';
import {h, put, table, percent, number} from './dom.js';
import {histogram, line} from './charts.js';

export function page(root) {
  const lead = h('p', {class: 'lead'}), hists = h('div', {class: 'grid'}), said = h('p', {class: 'lead'}), course = h('div'), reasons = h('div', {class: 'grid'});
  const slider = h('input', {type: 'range', min: 0, max: 8, value: 1, id: 'bound', 'aria-label': 'Another bound', oninput: () => draw()});
  let data = null, touched = false;
  slider.addEventListener('input', () => touched = true);
  root.append(h('h1', {}, 'Staleness'), lead, hists, h('br'), h('section', {class: 'panel', 'aria-label': 'Another bound'}, h('h2', {}, 'What another bound would have cost'), h('div', {class: 'tools'}, slider), said,
    h('p', {class: 'small soft'}, 'Counted over the groups that were really trained last, as they were. Under another bound admission would have differed too, so take it for the direction, not for the third digit. The bound of a run does not change while it runs: it is the experiment.')),
    h('section', {class: 'panel', 'aria-label': 'Leases, buffer and admission'}, h('h2', {}, 'At the end of each step: under lease, in the buffer, room for more'), course), reasons);
  const draw = () => {
    if (!data) return;
    slider.max = data.what_if.length - 1;
    if (!touched) slider.value = Math.max(0, data.bound - 1);
    const total = data.trained.reduce((a, b) => a + b, 0), old = data.trained.slice(1).reduce((a, b) => a + b, 0);
    put(lead, total ? `${percent(1 - old / total)} of the tokens trained on were on-policy; the bound is ${data.bound}, and what is older is ${data.policy === 'mask' ? 'masked' : data.policy === 'drop' ? 'dropped' : 'waited for'}.` : `Nothing is trained yet; the bound is ${data.bound}.`);
    const one = (title, words, counts, kind) => h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title), histogram(title, counts, data.bound, kind), h('p', {class: 'reading'}, words));
    put(hists, one('Trained', 'Tokens with loss weight since the run began. None may lie behind the bound.', data.trained, ''), one('In flight', 'Groups under lease now, by the version their lease was granted at.', data.in_flight, 'q'), one('In the buffer', 'Scored groups now, by their oldest token.', data.in_queue, 'q'));
    const what = data.what_if[Number(slider.value)];
    put(said, data.sample && what ? `With a bound of ${what.bound}, ${percent(what.masked_share)} of the tokens of the last ${number(data.sample)} trained groups would have been too stale, and ${number(what.groups)} groups (${percent(what.group_share)}) would have had nothing left to train on.` : 'No group has been trained yet.');
    course.replaceChildren(line('Leases, buffer and capacity', [['under lease', 'leased'], ['buffered', 'buffered'], ['may start', 'capacity']].map(([name, key]) => ({name, points: data.series.map(point => [point.step, point[key]])})), {zero: true, long: true}),
      h('ul', {class: 'shares'}, h('li', {}, h('span', {}, 'blue: under lease; orange: buffered; green: may start'))));
    const counts = (title, map, none) => h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title), Object.keys(map).length ? table(title, [{name: 'reason', of: row => row[0]}, {name: 'count', num: true, of: row => number(row[1])}], Object.entries(map).sort((a, b) => b[1] - a[1])) : h('p', {class: 'empty'}, none));
    put(reasons, counts('Refused answers', data.refusals, 'No answer was refused.'), counts('Leases that ended without an answer', data.lost, 'Every lease so far brought an answer.'));
  };
  const feed = poll('/staleness', next => { data = next; draw(); });
  return {update() {}, stop: feed.stop, refresh: feed.now};
}
