// A node's accelerators as tiles: whose, how full, how busy. Colour is always beside a word.
import {h, bytes, visible} from './dom.js';

const TONES = {ours: 'good', idle: 'warn', free: 'plain', foreign: 'bad', zombie: 'bad', virtual: 'plain', unknown: 'warn'};

export function gpuMap(gpus) {
  if (!gpus.length) return null;
  const counts = Object.entries(gpus.reduce((sums, gpu) => ({...sums, [gpu.state]: (sums[gpu.state] || 0) + 1}), {}));
  return [h('h2', {}, `${gpus.length} GPU${gpus.length > 1 ? 's' : ''}: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}`),
    h('ul', {class: 'gpus'}, gpus.map(tile))];
}

const memoryOf = gpu => gpu.memory_bytes ? `${bytes(gpu.used_bytes)} of ${bytes(gpu.memory_bytes)}` : '';
const busyOf = gpu => gpu.utilisation < 0 ? '' : gpu.utilisation + '\u202f%';
const said = gpu => `GPU ${gpu.index}, ${gpu.name}, ${gpu.state}${gpu.whose ? ', ' + gpu.whose : ''}${memoryOf(gpu) && ', ' + memoryOf(gpu)}${busyOf(gpu) && `, computes ${busyOf(gpu)} of the time`}`;

function tile(gpu) {
  const memory = memoryOf(gpu), busy = busyOf(gpu);
  return h('li', {class: 'gpu', 'data-state': gpu.state, title: said(gpu)},
    h('div', {class: 'head'}, h('b', {}, String(gpu.index)), h('span', {class: 'tone-' + (TONES[gpu.state] || 'plain')}, gpu.state), h('span', {class: 'busy'}, busy)),
    gpu.memory_bytes ? h('div', {class: 'stack', role: 'img', 'aria-label': memory}, h('i', {class: 'k-busy', 'width%': 100 * gpu.used_bytes / gpu.memory_bytes})) : null,
    h('div', {class: 'who'}, visible(gpu.whose || gpu.name)));
}

// All of them at a glance, a row a node: what a fleet is looked at for.
export function fleet(nodes) {
  const having = nodes.filter(node => node.gpus.length);
  if (having.length < 2) return null;
  const all = having.flatMap(node => node.gpus), sums = Object.entries(all.reduce((sum, gpu) => ({...sum, [gpu.state]: (sum[gpu.state] || 0) + 1}), {})).sort((a, b) => b[1] - a[1]);
  return h('section', {class: 'panel', 'aria-label': 'GPUs of all nodes'}, h('h2', {}, `${all.length} GPUs on ${having.length} nodes: ${sums.map(([state, count]) => `${count} ${state}`).join(', ')}`),
    h('div', {class: 'fleet'}, having.map(node => h('div', {class: 'row'}, h('span', {class: 'name'}, visible(node.node)),
      h('span', {class: 'cells', role: 'img', 'aria-label': `${node.node}: ${node.gpus.map(gpu => `GPU ${gpu.index} ${gpu.state}`).join(', ')}`}, node.gpus.map(gpu => h('i', {'data-state': gpu.state, title: said(gpu)}, gpu.utilisation < 0 || gpu.state === 'free' ? MARKS[gpu.state] || '?' : gpu.state === 'ours' ? String(gpu.utilisation) : MARKS[gpu.state])))))),
    h('p', {class: 'soft small'}, 'A number is how much of the time one of ours computes, in percent; i idle, f free, X foreign, Z left by a former agent, v virtual.'));
}

const MARKS = {ours: '·', idle: 'i', free: 'f', foreign: 'X', zombie: 'Z', virtual: 'v', unknown: '?'};
