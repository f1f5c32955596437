import {h, decimal, duration} from './dom.js';
import {line} from './charts.js';

const CHARTS = [
  ['Reward', ['reward', 'reward_used', 'eval']], ['Completion length', ['length', 'length_right', 'length_wrong']], ['Groups: degenerate, all right, all wrong', ['degenerate_share', 'all_right_share', 'all_wrong_share']], ['Entropy', ['entropy']],
  ['Behaviour KL', ['kl']], ['Clipped tokens', ['clipped_low', 'clipped_high']], ['Gradient norm', ['gradient_norm']], ['Loss', ['loss']],
  ['Importance ratio, p50, p90, p99', ['ratio_p50', 'ratio_p90', 'ratio_p99']], ['Effective sample size', ['effective_share']], ['Staleness of trained tokens', ['staleness_mean', 'staleness_max']], ['Tokens a second', ['tokens_per_second']],
  ['Learning rate', ['learning_rate']], ['KL to the reference, mean and largest', ['reference_kl', 'reference_kl_max']], ['Cut off by the token limit', ['length_share']], ['Reward against length', ['reward_length_correlation']], ['Seconds of a step: trainer, waiting', ['train_seconds', 'wait_seconds']], ['Masked tokens', ['masked_tokens']]];

export function page(root, {state}) {
  let axis = 'step';
  const seg = h('div', {class: 'seg', role: 'group', 'aria-label': 'X axis'}, ['step', 'time', 'tokens'].map(name => h('button', {'aria-pressed': String(name === axis), onclick: event => {
    axis = name; [...seg.children].forEach(one => one.setAttribute('aria-pressed', String(one === event.currentTarget))); draw(); }}, name)));
  const grid = h('div', {class: 'grid'});
  root.append(h('h1', {}, 'Learning'), h('p', {class: 'soft'}, 'One point a step; a band shows the range where steps are drawn together. Dashed lines are restarts and orders.'), h('div', {class: 'tools'}, h('span', {class: 'soft small'}, 'against'), seg), grid);
  let drawn = -1;
  const draw = () => {
    const metrics = Object.fromEntries((state.about ? state.about.metrics : []).map(one => [one.name, one]));
    let tokens = 0;
    const xs = new Map(), byStep = new Map();
    for (const row of state.rows) { tokens += (row.trained_tokens || 0) + (row.masked_tokens || 0); const x = axis === 'step' ? row.step : axis === 'time' ? row.seconds : tokens; xs.set(row, x); byStep.set(row.step, x); }
    const marks = state.marks.map(mark => ({x: byStep.get(mark.step) ?? mark.step, kind: mark.kind, text: mark.text}));
    grid.replaceChildren(...CHARTS.map(([title, names]) => {
      const series = names.map(name => ({name, points: state.rows.filter(row => typeof row[name] === 'number').map(row => [xs.get(row), row[name]])}));
      const newest = series.map(one => one.points.length ? decimal(one.points[one.points.length - 1][1]) : '–').join(' / '), about = metrics[names[0]];
      return h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, title, h('span', {class: 'headnum'}, newest)), line(title, series, {x: axis === 'time' ? 's' : axis, marks}),
        h('p', {class: 'reading'}, about ? `${about.meaning}. ${about.reading}.` : ''));
    }));
  };
  return {update() { if (state.rows.length !== drawn && (drawn < 0 || Date.now() - (this.at || 0) > 2000) || !this.described && state.about) { drawn = state.rows.length; this.described = !!state.about; this.at = Date.now(); draw(); } }};
}
