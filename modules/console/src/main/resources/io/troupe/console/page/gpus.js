// A node's accelerators as tiles: whose, how full, how busy. Colour is always beside a word.
import {h, bytes, visible} from './dom.js';

const TONES = {ours: 'good', idle: 'warn', free: 'plain', foreign: 'bad', zombie: 'bad', virtual: 'plain', unknown: 'warn'};

export function gpuMap(gpus) {
  if (!gpus.length) return null;
  const counts = Object.entries(gpus.reduce((sums, gpu) => ({...sums, [gpu.state]: (sums[gpu.state] || 0) + 1}), {}));
  return [h('h2', {}, `${gpus.length} GPU${gpus.length > 1 ? 's' : ''}: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}`),
    h('ul', {class: 'gpus'}, gpus.map(tile))];
}

function tile(gpu) {
  const memory = gpu.memory_bytes ? `${bytes(gpu.used_bytes)} of ${bytes(gpu.memory_bytes)}` : '';
  const busy = gpu.utilisation < 0 ? '' : gpu.utilisation + '\u202f%';
  const said = `GPU ${gpu.index}, ${gpu.name}, ${gpu.state}${gpu.whose ? ', ' + gpu.whose : ''}${memory ? ', ' + memory : ''}${busy ? ', computes ' + busy + ' of the time' : ''}`;
  return h('li', {class: 'gpu', 'data-state': gpu.state, title: said},
    h('div', {class: 'head'}, h('b', {}, String(gpu.index)), h('span', {class: 'tone-' + (TONES[gpu.state] || 'plain')}, gpu.state), h('span', {class: 'busy'}, busy)),
    gpu.memory_bytes ? h('div', {class: 'stack', role: 'img', 'aria-label': memory}, h('i', {class: 'k-busy', 'width%': 100 * gpu.used_bytes / gpu.memory_bytes})) : null,
    h('div', {class: 'who'}, visible(gpu.whose || gpu.name)));
}
