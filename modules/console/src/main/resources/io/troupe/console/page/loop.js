import {h, put, stack, percent, number, decimal, short, time, duration, visible} from './dom.js';
import {spark} from './charts.js';

const LINKS = {admission: 'waits', rollout: 'weights', verification: 'groups?only=verifying', buffer: 'staleness', train: 'learning', publish: 'weights'};
const TITLES = {admission: 'Admission', rollout: 'Rollout', verification: 'Verification', buffer: 'Buffer', train: 'Train', publish: 'Publish'};

export const feedLine = line => h('li', {class: 'tone-' + line.tone}, time(line.at_millis), h('span', {class: 't'}, visible(line.text)),
  line.group ? h('a', {href: '#/groups/' + line.group}, 'open g' + line.group) : h('a', {href: '#/history?at=' + line.sequence, 'aria-label': 'event ' + line.sequence}, '#' + line.sequence));

export function page(root, {state}) {
  const lead = h('p', {class: 'lead'}), troubles = h('ul', {class: 'feed', 'aria-label': 'Out of order'}), stages = h('div', {class: 'stages'}), tiles = h('div', {class: 'tiles'}), lately = h('ul', {class: 'feed'}), sums = h('div');
  root.append(h('h1', {}, 'Loop'), lead, troubles,
    h('section', {class: 'panel', 'aria-label': 'Stages of the loop, last minute'}, h('h2', {}, 'Where the last minute went'), stages, h('div', {class: 'loopback'}, '↺ new weights go back to the workers, between two tokens')),
    tiles, h('div', {class: 'two'}, h('section', {class: 'panel', 'aria-label': 'Lately'}, h('h2', {}, 'Lately'), lately), h('section', {class: 'panel', 'aria-label': 'Accounting'}, h('h2', {}, 'Every group is accounted for'), sums)));
  const tile = (href, label, value, unit, values) => h('a', {class: 'tile', href: '#/' + href}, h('div', {class: 'k'}, label), h('div', {class: 'v'}, value, h('small', {}, unit)), spark(label + ' over the last steps', values));
  const past = name => state.rows.slice(-200).map(row => row[name]);
  return {update() {
    const run = state.run, step = run.headline, books = run.accounting, bound = run.facts.max_staleness;
    put(lead, visible(run.bottleneck));
    put(troubles, run.troubles.map(trouble => h('li', {class: 'tone-bad'}, visible(`${trouble.who} ${trouble.what}, for ${duration(run.as_of - trouble.since)}: ${trouble.reason}`))), run.lost ? h('li', {class: 'tone-warn'}, visible('lost ' + run.lost)) : '');
    troubles.hidden = !run.troubles.length && !run.lost;
    put(stages, run.stages.map(stage => h('a', {class: 'stage' + (stage.bottleneck ? ' culprit' : ''), href: '#/' + LINKS[stage.name]},
      h('h3', {}, TITLES[stage.name], stage.bottleneck ? h('span', {class: 'flag'}, '▲ bottleneck') : ''),
      stage.shares.length ? [stack(stage.shares), h('ul', {class: 'shares'}, stage.shares.map(share => h('li', {class: share.kind}, h('span', {}, share.word), h('span', {}, percent(share.share)))))] : h('p', {class: 'small soft'}, 'At once, to every worker of this process.'),
      h('div', {class: 'now'}, visible(stage.now)))));
    put(tiles, tile('learning', 'reward', decimal(step.reward), 'mean of the rollouts', past('reward')),
      tile('staleness', 'staleness mean / max', `${decimal(step.staleness_mean, 2)} / ${step.staleness_max ?? '–'}`, `bound ${bound}`, past('staleness_mean')),
      tile('groups', 'groups a minute', decimal(run.groups_per_minute, 1), 'scored', past('groups')),
      tile('learning', 'tokens a second', typeof step.tokens_per_second === 'number' ? short(step.tokens_per_second) : '–', 'scored', past('tokens_per_second')),
      tile('groups?only=degenerate', 'degenerate', percent(step.degenerate_share), 'of groups', past('degenerate_share')),
      tile('groups?only=troubled', 'lost', percent(step.lost_share), 'of groups', past('lost_share')));
    const feed = run.lately.slice().reverse();
    put(lately, feed.length ? feed.map(feedLine) : h('li', {class: 'empty'}, `No events yet: the policy is being made ready${run.since ? ', ' + duration(run.as_of - run.since) + ' so far' : ''}.`));
    const sum = (whole, parts) => h('p', {class: 'sum'}, h('b', {}, number(whole[1])), whole[0] + ' =', parts.filter(part => part[1] > 0).map((part, i) => [i ? h('span', {class: 'soft'}, '+') : '', h('span', {}, h('b', {}, number(part[1])), ' ' + part[0])]));
    const held = [['leased', books.leased], ['buffered', books.buffered], ['in training', books.training]];
    put(sums, sum(['prompts admitted', books.admitted], [['trained', books.trained], ['filtered', books.filtered], ['skipped', books.skipped], ['failed', books.failed], ['waiting', books.waiting], ...held]),
      sum(['leases granted', books.granted], [['trained', books.trained], ['filtered', books.filtered], ['skipped', books.skipped], ['stale', books.stale], ['expired', books.expired], ['lost', books.lost], ['failed', books.failures], ['outages', books.outages], ['cancelled', books.cancelled], ...held]),
      h('p', {class: 'small ' + (run.balanced ? 'tone-good' : 'tone-bad')}, run.balanced ? '✓ both sums hold' : '✗ the sums do not hold: this is a defect of Troupe'),
      h('p', {class: 'small soft'}, `${number(books.refused)} late answers refused · ${number(run.events)} events`));
  }};
}
