// Sampled stacks as bars: a bar is as wide as the share of stacks it stood in, its callees are below it.
import {h, put, number, percent} from './dom.js';

const LEAST = 0.004;

export function flameGraph(root, jvm) {
  const graph = h('div', {class: 'flame', role: 'tree', 'aria-label': 'Stacks, the outermost frame first'});
  const trail = h('p', {class: 'soft small', role: 'status'});
  let path = [root];
  const draw = () => {
    const top = path.at(-1);
    put(trail, `${number(top.samples)} samples, ${percent(root.samples ? top.samples / root.samples : 0)} of all. A bar is as wide as its share of the time; click one to widen it, click the first to go back.`);
    graph.replaceChildren(...path.slice(0, -1).map((frame, i) => bar(frame, 1, () => { path = path.slice(0, i + 1); draw(); })), branch(top, top.samples));
  };
  const bar = (frame, share, act) => h('button', {class: 'frame', role: 'treeitem', 'data-tone': tone(frame.frame), title: `${frame.frame}: ${number(frame.samples)} samples, ${percent(frame.samples / root.samples)} of all`, onclick: act}, share > 0.02 ? short(frame.frame) : '\u00a0');
  const branch = (frame, whole) => h('div', {class: 'branch', role: 'group', 'width%': 100 * frame.samples / whole},
    bar(frame, frame.samples / path.at(-1).samples, () => { path = frame === path.at(-1) ? path.slice(0, Math.max(1, path.length - 1)) : trailTo(path.at(-1), frame, path); draw(); }),
    h('div', {class: 'callees'}, frame.children.filter(child => child.samples / path.at(-1).samples > LEAST).map(child => branch(child, frame.samples))));
  draw();
  return h('section', {class: 'panel', 'aria-label': 'Flame graph'}, h('h2', {}, `Flame graph of ${jvm}`), trail, root.samples ? graph : h('p', {class: 'empty'}, 'No thread worked while the stacks were sampled.'));
}

function trailTo(from, frame, path) {
  const search = (node, trail) => node === frame ? trail : node.children.reduce((found, child) => found || search(child, [...trail, child]), null);
  return [...path.slice(0, -1), ...search(from, [from])];
}

const short = name => name.split('.').slice(-2).join('.');
const tone = name => name.startsWith('io.troupe.') ? 'own' : name.startsWith('akka.') ? 'akka' : name.startsWith('ai.djl.') ? 'djl' : 'rest';
