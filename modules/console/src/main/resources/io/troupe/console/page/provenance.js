import {get} from './api.js';
import {toast} from './app.js';
import {h, visible} from './dom.js';
import {explanation} from './explanation.js';

export function page(root, {state, argument}) {
  const explained = explanation(argument);
  const facts = h('div'), config = h('pre', {class: 'config mono', tabindex: 0, 'aria-label': 'Resolved configuration'}), title = h('h2', {}, 'Resolved configuration: every key with its value and origin'), choice = h('div', {class: 'tools'});
  root.append(h('h1', {}, 'Provenance'), h('p', {class: 'soft'}, 'Where, when and with what this run was started: enough to do it again. And of a trained completion: who sampled it, and why it counted.'), explained.panel, h('div', {class: 'two'}, h('section', {class: 'panel', 'aria-label': 'Configuration'}, title, choice, config), h('section', {class: 'panel', 'aria-label': 'Facts'}, h('h2', {}, 'Versions, host, seeds'), facts)));
  const text = value => typeof value === 'object' && value !== null ? Array.isArray(value) ? value.join(' ') : Object.entries(value).map(([key, inner]) => `${key} ${inner}`).join(', ') : String(value);
  get('/provenance').then(found => {
    config.replaceChildren(...visible(found.resolved || ''));
    facts.replaceChildren(h('dl', {class: 'facts'}, Object.entries(found.run || {}).map(([key, value]) => [h('dt', {}, key.replaceAll('_', ' ')), h('dd', {}, visible(text(value)))])));
    const others = Object.keys(found.others || {});
    if (others.length) choice.replaceChildren(h('label', {for: 'other', class: 'soft small'}, 'compare with'), h('select', {id: 'other', 'aria-label': 'Compare with another run', onchange: event => compare(found, event.target.value)}, h('option', {value: ''}, 'nothing'), others.map(name => h('option', {value: name}, name))));
  }, failure => toast(failure.message));
  const compare = (found, name) => {
    if (!name) { config.replaceChildren(...visible(found.resolved)); return; }
    const flat = yaml => { const path = [], lines = new Map(); for (const row of yaml.split('\n')) { const match = /^( *)(?:- )?([\w.-]+):(.*)$/.exec(row); if (!match) continue; const depth = match[1].length / 2; path.length = depth; path[depth] = match[2]; if (match[3].trim()) lines.set(path.join('.'), match[3].replace(/\s+#.*$/, '').trim()); } return lines; };
    const mine = flat(found.resolved), theirs = flat(found.others[name]), keys = [...new Set([...mine.keys(), ...theirs.keys()])].filter(key => mine.get(key) !== theirs.get(key)).sort();
    config.replaceChildren(...(keys.length ? keys.flatMap(key => [h('div', {class: 'soft'}, key), h('div', {class: 'diff-plus'}, '+ here: ' + (mine.get(key) ?? 'absent')), h('div', {class: 'diff-minus'}, `− ${name}: ` + (theirs.get(key) ?? 'absent'))]) : [h('span', {class: 'soft'}, 'No key differs.')]));
  };
  return {update() { explained.suggest(state.run.version); }, go: explained.go};
}
