// Talking to the run. The token of the link stays in this tab's session storage, never in a cookie.
const KEY = 'troupe.token';
const given = new URLSearchParams(location.hash.startsWith('#token=') ? location.hash.slice(1) : '').get('token');
if (given) { sessionStorage.setItem(KEY, given); history.replaceState(null, '', '#/'); }

const headers = more => { const token = sessionStorage.getItem(KEY); return token ? {...more, Authorization: 'Bearer ' + token} : more || {}; };

export async function get(path) {
  const response = await fetch('/api/v1' + path, {headers: headers({'X-Troupe-Console': '1'}), cache: 'no-store'});
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error || 'status ' + response.status);
  return response.headers.get('Content-Type').startsWith('application/json') ? response.json() : response.text();
}

export async function order(body) {
  const response = await fetch('/api/v1/orders', {method: 'POST', headers: headers({'Content-Type': 'application/json', 'X-Troupe-Console': '1'}), body: JSON.stringify(body)});
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || 'status ' + response.status);
  return answer;
}

// Asks the policy; each line of its answer is given on as it comes. Aborting the signal ends the draw.
export async function question(body, signal, on) {
  const response = await fetch('/api/v1/chat', {method: 'POST', headers: headers({'Content-Type': 'application/json', 'X-Troupe-Console': '1'}), body: JSON.stringify(body), signal});
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error || 'status ' + response.status);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const {value, done} = await reader.read();
    if (done) return;
    const rows = (rest + value).split('\n');
    rest = rows.pop();
    rows.filter(Boolean).forEach(row => on(JSON.parse(row)));
  }
}

// Server-sent events over fetch, which can carry a token; comes back with the last id it has seen.
export async function stream(on) {
  let last = '';
  for (let pause = 500; ; pause = Math.min(pause * 1.6, 8000)) {
    try {
      const response = await fetch('/api/v1/stream', {headers: headers(last ? {'Last-Event-ID': last} : {}), cache: 'no-store'});
      if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error || 'status ' + response.status);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ''; ;) {
        const {value, done} = await reader.read();
        if (done) break;
        pause = 500;
        const events = (rest + value).split('\n\n');
        rest = events.pop();
        for (const text of events) {
          const fields = Object.fromEntries(text.split('\n').map(row => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 2)]));
          if (fields.id) last = fields.id;
          if (fields.data) on(fields.event, JSON.parse(fields.data));
        }
      }
      on('lost', 'the run closed the stream');
    } catch (failure) { on('lost', failure.message); }
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}
