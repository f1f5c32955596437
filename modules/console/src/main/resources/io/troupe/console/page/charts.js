import {h, s, decimal, short} from './dom.js';

const H = 150, L = 42, R = 8, T = 8, B = 20;

// Few enough points to draw: means of equal buckets, with the least and the greatest of each.
export function thin(points, most = 240) {
  if (points.length <= most) return points.map(([x, y]) => [x, y, y, y]);
  const size = Math.ceil(points.length / most), out = [];
  for (let i = 0; i < points.length; i += size) {
    const part = points.slice(i, i + size), ys = part.map(point => point[1]);
    out.push([part[part.length - 1][0], ys.reduce((a, b) => a + b, 0) / ys.length, Math.min(...ys), Math.max(...ys)]);
  }
  return out;
}

const path = (points, x, y) => points.map((point, i) => (i ? 'L' : 'M') + x(point[0]).toFixed(1) + ' ' + y(point[1]).toFixed(1)).join('');

// series: [{name, points: [[x, y]…]}]; marks: [{x, kind, text}]
export function line(label, series, options = {}) {
  const wide = options.long && innerWidth > 720, W = wide ? 1060 : 360, H = wide ? 170 : 150;
  const drawn = series.map(one => ({...one, points: thin(one.points.filter(point => isFinite(point[0]) && typeof point[1] === 'number' && isFinite(point[1])))}));
  const all = drawn.flatMap(one => one.points);
  if (!all.length) return h('div', {class: 'chart empty'}, options.empty || 'No step has measured this yet.');
  let x0 = Infinity, x1 = -Infinity, y0 = options.zero ? 0 : Infinity, y1 = -Infinity;
  for (const [x, , low, high] of all) { x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, low); y1 = Math.max(y1, high); }
  if (y0 === y1) { y0 -= Math.abs(y0) * .1 || .5; y1 += Math.abs(y1) * .1 || .5; }
  if (x0 === x1) x1 = x0 + 1;
  const X = x => L + (x - x0) / (x1 - x0) * (W - L - R), Y = y => H - B - (y - y0) / (y1 - y0) * (H - T - B);
  const last = drawn.map(one => one.points.length ? `${one.name} ${decimal(one.points[one.points.length - 1][1])}` : '').join(', ');
  const cross = s('line', {class: 'cross', y1: T, y2: H - B, visibility: 'hidden'}), note = s('text', {x: L + 4, y: T + 9, visibility: 'hidden'});
  const svg = s('svg', {class: 'chart live' + (options.long ? ' long' : ''), viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${label}: newest ${last}`},
    [0, .5, 1].map(f => [s('line', {class: 'axis', x1: L, x2: W - R, y1: Y(y0 + f * (y1 - y0)), y2: Y(y0 + f * (y1 - y0))}), s('text', {x: L - 5, y: Y(y0 + f * (y1 - y0)) + 4, 'text-anchor': 'end'}, decimal(y0 + f * (y1 - y0), 2))]),
    s('text', {x: L, y: H - 5}, short(x0)), s('text', {x: W - R, y: H - 5, 'text-anchor': 'end'}, short(x1) + ' ' + (options.x || 'step')),
    (options.marks || []).filter(mark => mark.x >= x0 && mark.x <= x1).slice(-40).map(mark => s('line', {class: 'mark ' + mark.kind, x1: X(mark.x), x2: X(mark.x), y1: T, y2: H - B}, s('title', {}, mark.text))),
    drawn.map((one, i) => [
      one.points.some(point => point[2] !== point[3]) && drawn.length === 1 ? s('path', {class: 'band', d: path(one.points.map(p => [p[0], p[3]]), X, Y) + path(one.points.map(p => [p[0], p[2]]).reverse(), X, Y).replace('M', 'L') + 'Z'}) : null,
      s('path', {class: 'series s' + i, d: path(one.points, X, Y), 'vector-effect': 'non-scaling-stroke'})]),
    cross, note);
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(), x = x0 + ((event.clientX - box.left) / box.width * W - L) / (W - L - R) * (x1 - x0);
    const said = drawn.filter(one => one.points.length).map(one => { const near = one.points.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a); return [near[0], `${one.name} ${decimal(near[1], 4)}`]; });
    if (!said.length) return;
    cross.setAttribute('x1', X(said[0][0])); cross.setAttribute('x2', X(said[0][0])); cross.setAttribute('visibility', 'visible');
    note.textContent = `${options.x || 'step'} ${short(said[0][0])}: ${said.map(one => one[1]).join(', ')}`; note.setAttribute('visibility', 'visible');
  });
  svg.addEventListener('pointerleave', () => { cross.setAttribute('visibility', 'hidden'); note.setAttribute('visibility', 'hidden'); });
  return svg;
}

export function spark(label, values) {
  const points = thin(values.map((value, i) => [i, value]).filter(point => typeof point[1] === 'number'), 60);
  if (points.length < 2) return s('svg', {viewBox: '0 0 100 22', 'aria-hidden': true});
  const ys = points.map(point => point[1]), low = Math.min(...ys), high = Math.max(...ys), span = high - low || 1, last = points[points.length - 1][0] || 1;
  return s('svg', {viewBox: '0 0 100 22', preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
    s('path', {class: 'spark', 'vector-effect': 'non-scaling-stroke', d: path(points, x => x / last * 100, y => 20 - (y - low) / span * 18)}));
}

// bars by staleness, with the bound drawn behind the last allowed one
export function histogram(label, counts, bound, kind = '') {
  const W = 360, places = Math.max(counts.length, bound + 2, 4), most = Math.max(1, ...counts), total = counts.reduce((a, b) => a + b, 0), w = (W - L - R) / places;
  const said = counts.map((count, i) => `${i}: ${count}`).join(', ') || 'none';
  return s('svg', {class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${label} by staleness: ${said}`},
    s('line', {class: 'axis', x1: L, x2: W - R, y1: H - B, y2: H - B}),
    Array.from({length: places}, (_, i) => {
      const count = counts[i] || 0, tall = count / most * (H - T - B - 14);
      return [s('rect', {class: `hist ${kind} ${i > bound ? 'over' : ''}`, x: L + i * w + w * .15, width: w * .7, y: H - B - tall, height: Math.max(tall, count ? 1 : 0), rx: 2}),
        s('text', {x: L + (i + .5) * w, y: H - 6, 'text-anchor': 'middle'}, String(i)),
        count ? s('text', {x: L + (i + .5) * w, y: H - B - tall - 3, 'text-anchor': 'middle'}, total > 999 ? (100 * count / total).toFixed(1) + '%' : String(count)) : null];
    }),
    s('line', {class: 'bound', x1: L + (bound + 1) * w, x2: L + (bound + 1) * w, y1: T, y2: H - B}),
    s('text', {x: L + (bound + 1) * w + 4, y: T + 8}, `bound ${bound}`));
}
