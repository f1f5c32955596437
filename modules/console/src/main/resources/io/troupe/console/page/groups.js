import {get} from './api.js';
import {poll, verb} from './app.js';
import {h, put, table, untrusted, number, decimal, duration, time, visible} from './dom.js';
import {feedLine} from './loop.js';

const FILTERS = [['all', 'all'], ['live', 'live'], ['degenerate', 'degenerate'], ['stale', 'stale when used'], ['troubled', 'in trouble'], ['sampling', 'being drawn'], ['verifying', 'being judged'], ['buffered', 'buffered'], ['trained', 'trained'], ['failed', 'failed']];
const ORDERS = [['newest', 'newest first'], ['longest', 'longest first'], ['oldest', 'longest in its stage first'], ['reward', 'highest reward first']];
// What the loss did to a token: the name in the answer, the words, and where the bar shows it.
const MARKS = [['low', 'below the clip range', 'lower half'], ['high', 'above the clip range', 'upper half'], ['cut', 'with their weight cut', 'line'], ['masked', 'masked', 'hatched']];
const CELLS = 120;
const LIVE = ['waiting', 'sampling', 'verifying', 'buffered'];

export function page(root, {state, argument, query}) {
  const choose = (label, options, value) => h('select', {'aria-label': label, onchange: () => feed.now()}, options.map(([key, words]) => h('option', {value: key, selected: key === value}, words)));
  const only = choose('Which groups', FILTERS, query.get('only') || 'all'), sorted = choose('Order', ORDERS, 'newest'), list = h('div'), detail = h('div'), count = h('span', {class: 'soft small'});
  root.append(h('h1', {}, 'Groups'), h('p', {class: 'soft'}, 'A group is one prompt and its completions. Open one to see them side by side: this is where reward hacking shows.'), detail, h('div', {class: 'tools'}, only, sorted, count), h('section', {class: 'panel', 'aria-label': 'Groups'}, list));
  const draw = rows => {
    count.textContent = `${rows.length} shown`;
    put(list, rows.length ? table('Groups', [
      {name: 'group', of: row => h('a', {href: '#/groups/' + row.group}, 'g' + row.group)}, {name: 'where', of: row => row.stage},
      {name: 'reward', num: true, of: row => row.rewards.length ? decimal(row.reward, 2) : '–'}, {name: 'spread', num: true, of: row => row.rewards.length ? decimal(row.spread, 2) : '–'},
      {name: 'tokens', num: true, of: row => row.tokens ? number(row.tokens) : '–'}, {name: 'versions', num: true, of: row => row.oldest < 0 ? (row.version < 0 ? '–' : 'from v' + row.version) : row.oldest === row.newest ? 'v' + row.oldest : `v${row.oldest}–v${row.newest}`},
      {name: 'staleness', num: true, of: row => row.staleness < 0 ? '–' : String(row.staleness)}, {name: 'step', num: true, of: row => row.step || '–'},
      {name: 'took', num: true, of: row => row.leased_at ? duration((row.scored_at || state.run && state.run.as_of || row.leased_at) - row.leased_at) : '–'},
      {name: 'worker', of: row => visible(row.worker)}, {name: 'trouble', of: row => visible(row.trouble)}], rows, {tall: true}) : h('p', {class: 'empty'}, 'No group is like that now.'));
  };
  const feed = poll(() => `/groups?only=${only.value}&order=${sorted.value}&limit=200`, draw, 2000);
  let open = argument, generation = 0;
  const openGroup = async () => {
    const mine = ++generation;
    if (!open) { detail.replaceChildren(); return; }
    try { const found = await get('/groups/' + open); if (mine === generation) detail.replaceChildren(panel(found, state)); }
    catch (failure) { if (mine === generation) detail.replaceChildren(h('section', {class: 'panel', 'aria-label': 'Group'}, h('p', {}, failure.message))); }
  };
  openGroup();
  return {update() {}, refresh() { feed.now(); openGroup(); }, stop: feed.stop, go(next, asked) { if (asked.get('only')) { only.value = asked.get('only'); feed.now(); } open = next; openGroup(); if (next) window.scrollTo(0, 0); }};
}

// A bar of few cells whatever the length: a cell shows what happened to any of its tokens.
function markBar(marks, total) {
  const count = Math.min(total, CELLS), cells = Array.from({length: count}, () => []), runs = [];
  for (const [kind] of MARKS) for (const {from, tokens} of marks[kind])
    for (let i = Math.floor(from * count / total); i < Math.min(count, (from + tokens) * count / total); i++) if (!cells[i].includes(kind)) cells[i].push(kind);
  for (const kinds of cells) {
    const name = kinds.join(' '), last = runs[runs.length - 1];
    if (last && last.name === name) last.cells++; else runs.push({name, cells: 1});
  }
  return runs.map(run => h('i', {class: run.name || false, 'width%': 100 * run.cells / count}));
}

function markWords(marks) {
  return MARKS.filter(([kind]) => marks[kind].length).map(([kind, words]) => {
    const tokens = marks[kind].reduce((sum, run) => sum + run.tokens, 0), first = marks[kind].slice(0, 3).map(run => run.tokens > 1 ? `${run.from + 1}–${run.from + run.tokens}` : String(run.from + 1));
    return `${number(tokens)} ${words} (${tokens > 1 ? 'tokens' : 'token'} ${first.join(', ')}${marks[kind].length > 3 ? ', …' : ''})`;
  }).join(' · ');
}

function markLegend(group, all) {
  if (group.stage !== 'trained') return null;
  if (!all.length) return h('p', {class: 'small soft'}, 'Which tokens the loss clipped was not written down.');
  const kinds = MARKS.filter(([kind]) => all.some(marks => marks[kind].length));
  if (!kinds.length) return h('p', {class: 'small soft'}, `Step ${group.step} clipped, cut or masked none of the tokens.`);
  return h('ul', {class: 'mark-legend small', 'aria-label': 'What the second bar of a completion shows'}, kinds.map(([kind, words, where]) => h('li', {}, h('span', {class: 'marks', 'aria-hidden': true}, h('i', {class: kind, 'width%': 100})), ` ${words} (${where})`)));
}

// An episode: what each turn observed, what was sampled, which tools ran, and why it ended.
function turnList({turns, stop}, completion) {
  const weight = value => ['of loss weight ', h('b', {}, String(value))], name = (what, turn) => `${what} turn ${turn} of completion ${completion}`;
  return [h('ol', {class: 'turns', 'aria-label': 'Turns of completion ' + completion}, turns.map((turn, i) => h('li', {},
    turn.observed.text.text ? [h('p', {class: 'small soft'}, `observed: ${number(turn.observed.tokens)} tokens `, weight(0)), untrusted(turn.observed.text, name('Observed before', i + 1))] : null,
    h('p', {class: 'small'}, h('b', {}, `turn ${i + 1}`), ' · ', visible(turn.agent), ` · sequence ${turn.sequence} · ${duration(turn.millis)}`, turn.spans.map(span => [` · ${number(span.tokens)} × v${span.version} `, weight(span.loss_weight)])),
    untrusted(turn.sampled, name('Sampled in', i + 1)),
    turn.tools.map(tool => h('p', {class: 'small tool-run'}, 'tool ', h('b', {}, visible(tool.name)), ` · ${tool.outcome.replaceAll('_', ' ')} · exit ${tool.exit} · ${duration(tool.millis)} · arguments ${number(tool.argument_bytes)} bytes · result ${number(tool.bytes)} bytes`)),
    turn.reward ? h('p', {class: 'small'}, 'reward of the turn ', h('b', {}, decimal(turn.reward, 2))) : null))),
    h('p', {class: 'small soft'}, `ended by ${stop.replaceAll('_', ' ')}`)];
}

function panel({group, samplings, token_marks: all, events, text_hidden: hidden}, state) {
  const bound = state.run ? state.run.facts.max_staleness : 0, used = group.step ? group.step - 1 : group.staleness >= 0 ? group.oldest + group.staleness : state.run ? state.run.version : group.newest;
  const judged = samplings.find(one => one.fence === group.fence) || samplings[samplings.length - 1];
  const facts = [['where', group.stage], ['prompt', `${group.prompt}, epoch ${group.epoch}`], ['worker', visible(group.worker || '–')], ['admitted', time(group.admitted_at)], ['drawn in', group.sampled_at ? duration(group.sampled_at - group.leased_at) : '–'],
    ['judged in', group.scored_at && group.sampled_at ? duration(group.scored_at - group.sampled_at) : '–'], ['in the buffer', group.scored_at && group.ended_at ? duration(group.ended_at - group.scored_at) : '–'], ['trained by', group.step ? 'step ' + group.step : '–'],
    ['staleness', group.staleness < 0 ? '–' : `${group.staleness} (bound ${bound})`], ['attempts lost', String(group.attempts)], ['trouble', visible(group.trouble || 'none')]];
  const completions = Array.from({length: Math.max(group.rewards.length, judged ? judged.completions.length : 0)}, (_, i) => {
    const reward = group.rewards[i] ?? (judged && judged.rewards[i]), spans = group.completions[i] || [], total = spans.reduce((sum, span) => sum + span.tokens, 0);
    const marks = all[i], marked = marks && markWords(marks);
    const advantage = group.rewards.length ? reward - group.reward : undefined;
    return h('article', {class: 'completion', 'aria-label': 'Completion ' + (i + 1)},
      h('header', {}, h('b', {}, `#${i + 1}`), h('span', {}, 'reward ', h('b', {}, decimal(reward, 2))), h('span', {class: advantage > 0 ? 'tone-good' : advantage < 0 ? 'tone-bad' : 'soft'}, advantage === undefined ? '' : `${advantage >= 0 ? '+' : '−'}${decimal(Math.abs(advantage), 2)} to the mean`)),
      judged && judged.episodes[i] && judged.episodes[i].turns.length ? turnList(judged.episodes[i], i + 1) : judged && judged.completions[i] ? untrusted(judged.completions[i], 'Text of completion ' + (i + 1)) : h('p', {class: 'soft small'}, hidden ? 'Texts are hidden by the configuration (console.hide_text).' : 'Its text is not written yet.'),
      h('div', {class: 'tokens', role: 'img', 'aria-label': spans.map(span => `${span.tokens} tokens of v${span.version}`).join(', ')}, spans.map(span => h('i', {class: used - span.version > bound && 'old', 'width%': 100 * span.tokens / total, title: `${span.tokens} tokens of v${span.version}`}))),
      h('div', {class: 'small soft'}, spans.map(span => `${span.tokens} × v${span.version}${used - span.version > bound ? ' (too stale to train on)' : ''}`).join(' · ')),
      marked ? [h('div', {class: 'marks', role: 'img', 'aria-label': 'In step ' + group.step + ': ' + marked}, markBar(marks, total)), h('div', {class: 'small soft'}, marked)] : null,
      judged && judged.verdicts[i] ? h('p', {class: 'small'}, visible(judged.verdicts[i].text)) : null);
  });
  return h('section', {class: 'panel', 'aria-label': 'Group g' + group.group},
    h('div', {class: 'tools'}, h('h1', {}, 'g' + group.group), h('span', {class: 'pill tone-plain'}, group.stage), LIVE.includes(group.stage) ? [verb('requeue', {group: group.group}), verb('cancel', {group: group.group})] : null, h('a', {href: '#/groups'}, 'close')),
    h('div', {class: 'two'}, h('div', {}, judged ? [h('h2', {}, 'Prompt'), untrusted(judged.prompt, 'Prompt'), h('p', {class: 'small soft'}, 'answer: ', visible(judged.answer.text))] : h('p', {class: 'soft'}, hidden ? 'Texts are hidden by the configuration (console.hide_text).' : 'No completion of it has been judged yet.')),
      h('dl', {class: 'facts small'}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))),
    h('h2', {}, 'Completions'), markLegend(group, all), h('div', {class: 'completions'}, completions.length ? completions : h('p', {class: 'empty'}, 'None yet.')),
    h('h2', {}, 'Its events'), h('ul', {class: 'feed'}, events.map(feedLine)));
}
