import {poll} from './app.js';
import {h, put, table, time, number, visible} from './dom.js';

const DENSITIES = ['the story', 'and how groups end', 'everything'];

export function page(root, {query}) {
  let density = Number(query.get('density') ?? (query.get('at') ? 2 : 0)), rows = [];
  const at = Number(query.get('at') || 0);
  const seg = h('div', {class: 'seg', role: 'group', 'aria-label': 'How much'}, DENSITIES.map((name, i) => h('button', {'aria-pressed': String(i === density), onclick: event => { density = i; [...seg.children].forEach(one => one.setAttribute('aria-pressed', String(one === event.currentTarget))); feed.now(); }}, name)));
  const search = h('input', {type: 'search', 'aria-label': 'Filter events', placeholder: 'filter, such as g17 or rollout', oninput: () => draw()}), list = h('div'), count = h('span', {class: 'soft small'});
  root.append(h('h1', {}, 'History'), h('p', {class: 'soft'}, 'The run’s journal as sentences, newest first. The number of an event is its address. ', h('a', {href: '/api/v1/events?density=2&limit=5000', 'data-own': ''}, 'The same as JSON'), '.'), h('div', {class: 'tools'}, seg, search, count), h('section', {class: 'panel', 'aria-label': 'Events'}, list));
  const draw = () => {
    const wanted = search.value.trim().toLowerCase(), found = rows.filter(row => !wanted || (row.text + ' ' + row.type + ' g' + row.group + ' ').toLowerCase().includes(wanted));
    count.textContent = `${number(Math.min(found.length, 1000))} of ${number(rows.length)} kept events`;
    put(list, found.length ? table('Events', [{name: '#', num: true, of: row => h('a', {href: '#/history?at=' + row.sequence}, String(row.sequence))}, {name: 'time', of: row => time(row.at_millis)}, {name: 'what happened', of: row => h('span', {class: row.tone === 'plain' ? '' : 'tone-' + row.tone}, visible(row.text))}, {name: 'event', of: row => h('span', {class: 'soft'}, row.type)}, {name: 'group', of: row => row.group ? h('a', {href: '#/groups/' + row.group}, 'g' + row.group) : ''}],
      found.slice(0, 1000), {tall: true, row: row => ({id: 'e' + row.sequence, 'aria-selected': String(row.sequence === at)})}) : h('p', {class: 'empty'}, 'No kept event is like that.'));
  };
  let moved = !at;
  const feed = poll(() => `/events?density=${density}&limit=2000`, next => { rows = next.reverse(); draw(); const row = document.getElementById('e' + at); if (!moved && row) { moved = true; row.scrollIntoView({block: 'center'}); } }, 3000);
  return {update() {}, stop: feed.stop, refresh: feed.now, go(_, asked) { if (asked.get('at')) { const row = document.getElementById('e' + asked.get('at')); if (row) { document.querySelectorAll('tr[aria-selected="true"]').forEach(one => one.setAttribute('aria-selected', 'false')); row.setAttribute('aria-selected', 'true'); } } }};
}
