// The newest policy, asked by hand. What it says is of unknown intent: it is only ever a text node.
import {question} from './api.js';
import {poll} from './app.js';
import {h, number, duration, visible} from './dom.js';

const KEPT = 20, SHOWN = 20000;
const said = [], draft = {prompt: '', temperature: '', tokens: '', template: true};

export function page(root) {
  const form = h('div'), log = h('div', {role: 'log', 'aria-label': 'Answers', 'aria-live': 'polite'});
  let asking = null;
  root.append(h('h1', {}, 'Try'), h('p', {class: 'soft'}, 'Ask the newest weights. An engine of its own answers, on one thread, beside the training; every question stands by itself, and nothing of it is trained on or kept.'), form, log);
  log.append(...said);
  const offered = poll('/chat', offer => { offered.stop(); draw(offer); }, 3000);
  const closed = why => form.replaceChildren(h('section', {class: 'panel', 'aria-label': 'Not here'}, h('p', {}, visible(why))));

  function draw(offer) {
    if (offer.closed) { closed(offer.closed); return; }
    const prompt = h('textarea', {id: 'try-prompt', 'data-first': true, rows: 3, spellcheck: 'false', autocomplete: 'off', placeholder: 'Enter sends, Shift+Enter begins a line, Escape stops', oninput: () => draft.prompt = prompt.value});
    const temperature = h('input', {id: 'try-temperature', type: 'number', min: 0, max: 5, step: 'any', value: draft.temperature || offer.temperature, title: 'that of the run’s rollouts; 0 always takes the most probable token', oninput: () => draft.temperature = temperature.value});
    const tokens = h('input', {id: 'try-tokens', type: 'number', min: 1, max: offer.most_tokens, step: 1, value: draft.tokens || offer.max_tokens, title: `1 to ${offer.most_tokens}; prompt and answer share a context of ${offer.context_length}`, oninput: () => draft.tokens = tokens.value});
    const template = h('input', {id: 'try-template', type: 'checkbox', checked: draft.template, onchange: () => draft.template = template.checked});
    const send = h('button', {type: 'submit', class: 'primary'}, 'Send'), stop = h('button', {type: 'button', disabled: true, onclick: () => asking && asking.abort()}, 'Stop');
    const example = offer.example ? h('button', {type: 'button', class: 'push', title: 'a prompt that the run does not train on', onclick: () => { prompt.value = draft.prompt = offer.example; template.checked = draft.template = false; prompt.focus(); }}, 'A held-out prompt') : null;
    prompt.value = draft.prompt;
    const fields = h('form', {class: 'panel try', 'aria-label': 'Question', onsubmit: event => { event.preventDefault(); ask(); }},
      h('label', {for: 'try-prompt'}, 'Prompt'), prompt,
      h('div', {class: 'tools'}, h('label', {class: 'inline'}, 'Temperature', temperature), h('label', {class: 'inline'}, 'Most tokens', tokens),
        offer.template ? h('label', {class: 'inline', title: 'put into the model’s chat template; otherwise it is text to continue'}, template, 'As a chat message') : null, send, stop, example));
    prompt.addEventListener('keydown', event => { if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); fields.requestSubmit(); } if (event.key === 'Escape') { if (asking) asking.abort(); else prompt.blur(); } });
    form.replaceChildren(fields);

    async function ask() {
      if (asking || !prompt.value) { if (!asking) prompt.focus(); return; }
      const text = h('pre', {class: 'untrusted mono', tabindex: 0, 'aria-label': 'Answer'}), note = h('p', {class: 'small soft'}, 'asking…'), began = performance.now(), body = {prompt: prompt.value, template: offer.template && template.checked, temperature: temperature.valueAsNumber, max_tokens: tokens.valueAsNumber};
      const panel = h('section', {class: 'panel said', 'aria-label': 'Question and answer'}, h('h2', {}, 'Prompt'), h('pre', {class: 'untrusted mono', tabindex: 0, 'aria-label': 'Prompt'}, visible(body.prompt)), h('h2', {}, 'Answer'), text, note);
      said.unshift(panel);
      said.splice(KEPT).forEach(old => old.remove());
      log.prepend(panel);
      const mine = asking = new AbortController();
      send.disabled = true;
      stop.disabled = false;
      const over = () => { if (asking === mine) { asking = null; send.disabled = false; stop.disabled = true; } };
      let whole = '', by = '';
      try {
        await question(body, mine.signal, piece => {
          if (piece.error) note.textContent = piece.error;
          if (piece.text) { whole += piece.text; by = `v${piece.version}`; text.replaceChildren(...visible(whole.slice(0, SHOWN)), whole.length > SHOWN ? '…' : ''); text.scrollTop = text.scrollHeight; note.textContent = `${by} is drawing…`; }
          if (piece.finish) note.textContent = `drawn by v${piece.version} · ${number(piece.tokens)} ${piece.tokens === 1 ? 'token' : 'tokens'} to a prompt of ${number(piece.prompt_tokens)} · ${piece.finish === 'length' ? 'cut at the limit' : 'ended by itself'} · ${duration(performance.now() - began)}`;
          if (piece.finish || piece.error) over(); // the next question need not wait until the connection is closed
        });
        if (!note.textContent || /…$/.test(note.textContent)) note.textContent = 'the run closed the answer before it was whole';
      } catch (failure) { note.textContent = failure.name === 'AbortError' ? 'stopped' + (by ? `; drawn by ${by} so far` : '') : failure.message; }
      if (!whole) { text.previousSibling.remove(); text.remove(); }
      over();
    }
  }
  return {update() {}, stop() { offered.stop(); if (asking) asking.abort(); }};
}
