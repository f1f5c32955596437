import {get} from './api.js';
import {h, put, table, untrusted, number, decimal, visible} from './dom.js';

const ALWAYS_OPEN = ['prompt', 'text', 'answer', 'verdict'];

// Why completions of a step counted: `troupe explain` as a list of a batch, and one row in full.
export function explanation(argument) {
  const [step = '', row = ''] = argument.split('/');
  const field = h('input', {type: 'number', min: 1, id: 'explain-step', value: step || undefined, placeholder: 'step', autocomplete: 'off'}), list = h('div'), life = h('div');
  const form = h('form', {class: 'tools', onsubmit: event => { event.preventDefault(); if (field.value) location.hash = `#/provenance/${field.value}`; }}, h('label', {for: 'explain-step', class: 'soft small'}, 'Step'), field, h('button', {type: 'submit'}, 'Explain'));
  const panel = h('section', {class: 'panel', 'aria-label': 'Why completions counted'}, h('h2', {}, 'Why a completion counted: the batch of a step'), form, list, life);
  let shown = '', generation = 0;

  const failed = (into, failure) => put(into, h('p', {class: 'empty'}, visible(failure.message)));
  const open = async (next, which) => {
    const mine = ++generation;
    if (!next) return;
    field.value = next;
    if (shown !== next) {
      put(list, h('p', {class: 'soft'}, 'Reading the journal…'));
      life.replaceChildren();
      try {
        const rows = await get('/explanation?step=' + Number(next));
        if (mine !== generation) return;
        shown = next;
        list.replaceChildren(batch(next, rows));
      } catch (failure) { if (mine === generation) { shown = ''; failed(list, failure); } return; }
    }
    if (which === '') { life.replaceChildren(); return; }
    try { const found = await get(`/explanation?step=${Number(next)}&row=${Number(which)}`); if (mine === generation) life.replaceChildren(full(found)); }
    catch (failure) { if (mine === generation) failed(life, failure); }
  };
  open(step, row);
  return {panel, go: next => { const [at = '', which = ''] = next.split('/'); open(at, which); }, suggest: version => { if (!field.value && version > 0 && document.activeElement !== field) field.value = version; }};
}

const value = one => typeof one === 'number' ? decimal(one, 4) : visible(String(one));

const batch = (step, rows) => table('Completions of the batch', [
  {name: 'row', of: row => h('a', {href: `#/provenance/${step}/${row.row}`}, String(row.row))}, {name: 'group', of: row => h('a', {href: '#/groups/' + row.group}, `g${row.group}`)}, {name: 'completion', num: true, of: row => String(row.completion)},
  {name: 'worker', of: row => visible(String(row.worker))}, {name: 'tokens', num: true, of: row => number(row.tokens)}, {name: 'reward', num: true, of: row => value(row.reward)}, {name: 'advantage', num: true, of: row => value(row.advantage)},
  {name: 'stalest', num: true, of: row => String(row.staleness_max)}, {name: 'tokens with loss weight', num: true, of: row => number(row.tokens_with_loss_weight)}], rows, {tall: true});

function full(life) {
  const words = one => Array.isArray(one) ? one.map(words).join(', ') : one && typeof one === 'object' ? Object.entries(one).map(([key, inner]) => `${key} ${words(inner)}`).join(' ') : typeof one === 'number' ? String(one) : String(one ?? '–');
  const facts = Object.entries(life).filter(([name, one]) => !(ALWAYS_OPEN.includes(name) && one && one.text !== undefined));
  const texts = Object.entries(life).filter(([name, one]) => ALWAYS_OPEN.includes(name) && one && one.text !== undefined);
  return h('div', {role: 'region', 'aria-label': 'One completion'}, h('br'), h('h2', {}, `Step ${life.step}, row ${life.row}`),
    texts.map(([name, one]) => [h('p', {class: 'soft small'}, name), untrusted(one, name)]),
    h('dl', {class: 'facts'}, facts.map(([name, one]) => [h('dt', {}, name.replaceAll('_', ' ')), h('dd', {}, visible(words(one)))])),
    h('p', {class: 'small soft'}, 'Log-probabilities and ratios of each token: ', h('code', {}, visible(`troupe explain ${life.run} --step ${life.step} --row ${life.row} --tokens`))));
}
