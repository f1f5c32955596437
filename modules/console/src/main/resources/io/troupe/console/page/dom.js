// Elements are made, never parsed: no text of a run is ever read as HTML.
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'width%') element.style.width = value + '%';
    else element.setAttribute(name, value !== true ? value : name.startsWith('aria-') ? 'true' : '');
  }
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

// Control and direction characters are shown as what they are, because a completion may use them to
// hide or to reorder what a person reads.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

export function visible(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (parts.length > 4000) break;
    if (match.index > from) parts.push(text.slice(from, match.index));
    const code = 'U+' + match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(h('span', {class: 'ctl', title: 'a character that would not be seen'}, code));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

// A text of unknown origin: {text, characters}, perhaps cut by the server.
export function untrusted(whole, label) {
  const cut = whole.characters > whole.text.length;
  return h('pre', {class: 'untrusted mono', tabindex: 0, 'aria-label': label}, visible(whole.text),
    cut ? h('span', {class: 'soft'}, `\n… ${number(whole.characters - whole.text.length)} more characters`) : null);
}

// Replaces an element's content only where it changed, so that focus and scroll stay.
export function put(element, ...children) {
  const next = document.createElement(element.tagName);
  next.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  merge(element, next);
}

function merge(old, next) {
  const olds = [...old.childNodes], nexts = [...next.childNodes];
  nexts.forEach((to, i) => {
    const from = olds[i];
    if (!from) old.append(to);
    else if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.nodeType === 1 && (from.dataset.key || '') !== (to.dataset.key || '')) from.replaceWith(to);
    else if (from.nodeType === 3) { if (from.data !== to.data) from.data = to.data; }
    else if (keeps(from, to)) {
      for (const {name} of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name);
      for (const {name, value} of to.attributes) if (from.getAttribute(name) !== value) { if (name === 'style') from.style.width = to.style.width; else from.setAttribute(name, value); }
      merge(from, to);
    } else from.replaceWith(to);
  });
  olds.slice(nexts.length).forEach(node => node.remove());
}

// Elements with handlers of their own are replaced; the rest is brought up to date in place.
const keeps = (from, to) => !to.matches('button, select, input, a[data-own], tr.pick, svg.live');

export const number = value => value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en').replaceAll(',', '\u202f');
export function decimal(value, places = 3) {
  if (typeof value !== 'number' || !isFinite(value)) return '–';
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -places) return value.toExponential(0);
  return Math.abs(value) >= 10000 ? short(value) : value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? Math.min(1, places) : places);
}
export function short(value) {
  for (const [limit, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) if (Math.abs(value) >= limit) return (value / limit).toFixed(1) + unit;
  return String(Math.round(value));
}
export const percent = share => typeof share === 'number' ? (100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0) + '\u202f%' : '–';
export function duration(millis) {
  if (millis > 0 && millis < 1000) return Math.round(millis) + '\u202fms';
  const seconds = Math.max(0, millis / 1000);
  if (seconds < 100) return seconds.toFixed(seconds < 10 ? 1 : 0) + '\u202fs';
  if (seconds < 6000) return Math.floor(seconds / 60) + '\u202fmin';
  return `${Math.floor(seconds / 3600)}\u202fh ${Math.floor(seconds % 3600 / 60)}\u202fm`;
}
export const bytes = count => (count / 2 ** 30 >= 1 ? (count / 2 ** 30).toFixed(1) + '\u202fGiB' : Math.round(count / 2 ** 20) + '\u202fMiB');
const clockText = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});
export const time = at => at ? h('time', {datetime: new Date(at).toISOString(), title: new Date(at).toString()}, clockText.format(at)) : '–';

export function stack(shares) {
  const said = shares.map(share => `${share.word} ${percent(share.share)}`).join(', ');
  return h('div', {class: 'stack', role: 'img', 'aria-label': said, title: said},
    shares.map(share => h('i', {class: 'k-' + share.kind, 'width%': 100 * share.share})));
}

// columns: {name, num, of(row) -> node or text, by(row) -> sort key}
export function table(label, columns, rows, options = {}) {
  return h('div', {class: 'wide ' + (options.tall ? 'rows' : ''), tabindex: 0, role: 'region', 'aria-label': label},
    h('table', {},
      h('thead', {}, h('tr', {}, columns.map((column, i) => h('th', {class: column.num && 'num', scope: 'col', 'aria-sort': options.sorted === i ? 'descending' : undefined},
        column.by && options.sort ? h('button', {onclick: () => options.sort(i)}, column.name + (options.sorted === i ? ' ↓' : '')) : column.name)))),
      h('tbody', {}, rows.map(row => h('tr', options.row ? options.row(row) : {}, columns.map(column => h('td', {class: column.num && 'num'}, column.of(row))))))));
}
