import {poll} from './app.js';
import {h, put, table, decimal, percent, visible} from './dom.js';
import {line} from './charts.js';

const WINDOW = 20; // steps of one measured rate

export function page(root, {state}) {
  const lead = h('p', {class: 'lead'}), numbers = h('div'), notes = h('ul', {class: 'small soft'}), charts = h('div', {class: 'grid'}), source = h('p', {class: 'small soft'});
  root.append(h('h1', {}, 'Prediction'), lead, h('section', {class: 'panel', 'aria-label': 'Predicted and measured'}, h('h2', {}, 'Predicted in virtual time, and measured'), numbers, h('br'), source, notes), charts, h('br'),
    h('p', {class: 'small soft'}, 'The model is model.json of the run folder, which `troupe train FILE` copies from FILE.model.json beside the configuration; without one it is fitted from this run when this page is first opened, and tells whether the run still does what it did. An alarm is raised where a number is outside of the simulated range and more than 20 % off (staleness: at least 0.2 versions; masked: 0.1).'));
  let data = null, drawn = -1;
  const feed = poll('/prediction', next => { data = next; draw(); drawCharts(); }, 2000);
  const draw = () => {
    put(lead, data.state !== 'ready' ? visible(data.sentence) : data.alarms.length ? h('span', {class: 'tone-bad'}, visible('Alarm. ' + data.alarms.join(' '))) : visible(data.numbers.every(one => one.measured === null) ? data.sentence : 'The run does what was predicted. ' + data.sentence));
    const show = (one, value) => value === null ? '–' : one.name.startsWith('share') ? percent(value) : decimal(value, 3);
    put(numbers, data.numbers.length ? table('Predicted and measured', [{name: '', of: one => one.name}, {name: 'predicted', num: true, of: one => show(one, one.predicted)}, {name: 'least', num: true, of: one => show(one, one.low)}, {name: 'most', num: true, of: one => show(one, one.high)},
      {name: 'measured', num: true, of: one => h('b', {class: one.parts ? 'tone-bad' : ''}, show(one, one.measured))}, {name: '', of: one => one.parts ? 'parts' : ''}], data.numbers) : h('p', {class: 'empty'}, 'No numbers yet.'));
    put(source, data.source ? visible('Model: ' + data.source + '. ' + data.sentence) : '');
    put(notes, data.notes.map(note => h('li', {}, visible(note))));
  };
  const drawCharts = () => {
    if (!data || data.state !== 'ready' || state.rows.length === drawn) return;
    drawn = state.rows.length;
    const rows = state.rows.filter(row => typeof row.seconds === 'number' && row.step > 0);
    const rate = rows.flatMap((row, i) => { const from = rows[i - WINDOW]; return from && row.seconds > from.seconds && row.step > from.step ? [[row.step, (row.step - from.step) / (row.seconds - from.seconds)]] : []; });
    const ends = rows.length ? [rows[0].step, rows[rows.length - 1].step] : [];
    const chart = (title, measured, number) => h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title), line(title, [{name: 'measured', points: measured}, {name: 'predicted', points: ends.map(step => [step, number.predicted])}], {zero: true}), h('p', {class: 'small soft'}, 'blue: measured; orange: predicted'));
    const [steps, staleness] = data.numbers;
    charts.replaceChildren(chart(`Steps a second, over ${WINDOW} steps`, rate, steps), chart('Mean staleness', rows.filter(row => typeof row.staleness_mean === 'number').map(row => [row.step, row.staleness_mean]), staleness));
  };
  return {update: drawCharts, stop: feed.stop, refresh: feed.now};
}
