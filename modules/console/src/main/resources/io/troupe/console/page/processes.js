// The processes of a run: who judges, where threads stand, where time goes.
import {get} from './api.js';
import {toast, verb} from './app.js';
import {h, put, table, number, percent, bytes, visible} from './dom.js';
import {flameGraph} from './flame.js';

export const load = of => {
  if (!Object.keys(of).length) return null;
  const fact = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
  return h('dl', {class: 'facts small'}, fact('heap', `${bytes(of.heap_used_bytes)} of ${bytes(of.heap_max_bytes)}`), fact('memory of the machine', `${bytes(of.machine_memory_bytes - of.machine_memory_free_bytes)} of ${bytes(of.machine_memory_bytes)} used`),
    fact('processor', `this process ${percent(of.process_cpu_share)}, machine ${percent(of.machine_cpu_share)} of ${of.cores} cores`), fact('threads', number(of.threads)));
};

export function processTable(jvms) {
  const rows = jvms.filter(one => Object.keys(one.gauges).length);
  return rows.length < 2 ? null : [h('h2', {}, 'Processes'), table('Processes', [
    {name: 'process', of: row => visible(row.jvm)}, {name: 'is a', of: row => row.role}, {name: 'heap', num: true, of: row => bytes(row.gauges.heap_used_bytes)}, {name: 'of', num: true, of: row => bytes(row.gauges.heap_max_bytes)},
    {name: 'processor', num: true, of: row => percent(row.gauges.process_cpu_share)}, {name: 'threads', num: true, of: row => number(row.gauges.threads)}], rows, {tall: true})];
}

export function verifierTable(jvms) {
  const rows = jvms.flatMap(one => one.verifiers);
  return !rows.length ? null : [h('h2', {}, 'Verifiers'), table('Verifiers', [
    {name: 'verifier', of: row => visible(row.name)}, {name: 'is', of: row => h('span', {class: row.doing === 'quarantined' ? 'tone-warn' : ''}, row.doing)}, {name: 'judged', num: true, of: row => number(row.judged)},
    {name: '', of: row => verb(row.doing === 'quarantined' ? 'release' : 'quarantine', {verifier: row.name})}], rows, {tall: true})];
}

// A chooser of a process, and what can be asked of the one that is chosen.
export function inspector(drawer) {
  const chooser = h('select', {'aria-label': 'Process'}, h('option', {value: 'coordinator'}, 'coordinator'));
  const chosen = () => chooser.value === 'coordinator' ? '' : chooser.value;
  const panel = (title, ...content) => drawer.replaceChildren(h('section', {class: 'panel', 'aria-label': title}, h('h2', {}, `${title} of ${chooser.value}`), ...content));
  const ask = async (button, title, waiting, path, show) => {
    button.disabled = true;
    panel(title, h('p', {class: 'soft', role: 'status'}, waiting));
    try { show(await get(path)); drawer.scrollIntoView({block: 'nearest'}); } catch (failure) { drawer.replaceChildren(); toast(failure.message); } finally { button.disabled = false; }
  };
  const query = () => 'jvm=' + encodeURIComponent(chosen());
  return {
    tools: [h('label', {class: 'inline'}, 'Process', chooser),
      h('button', {onclick: event => ask(event.currentTarget, 'Thread dump', 'Asking for its threads …', '/threads?' + query(), text => panel('Thread dump', h('pre', {class: 'config mono', tabindex: 0}, visible(text))))}, 'Thread dump'),
      h('button', {onclick: event => ask(event.currentTarget, 'Flame graph', 'Sampling the stacks of all threads for five seconds …', '/flame?seconds=5&' + query(), flame => drawer.replaceChildren(flameGraph(flame, chooser.value)))}, 'Flame graph')],
    update(names) {
      const known = [...chooser.options].map(option => option.value);
      if (names.length && names.join() !== known.join()) {
        const before = chooser.value;
        chooser.replaceChildren(...names.map(name => h('option', {value: name, selected: name === before}, visible(name))));
      }
    }};
}
