'use strict';
// Texts from outside (models' names, answers, code, messages) reach the page as textContent and as
// attributes of no meaning to the browser (aria-label, title), and in no other way.
const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}
function svgEl(tag, attributes) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// --- numbers -------------------------------------------------------------------------------------
const known = x => x !== null && x !== undefined;
const plural = (n, one, many) => n + ' ' + (n === 1 ? one : many || one + 's');
const grouped = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u2009');
const fixed = (x, digits) => known(x) ? x.toFixed(digits).replace('-', '\u2212') : '\u221e';
function speedText(x) {
  if (x >= 99.5) return x.toFixed(0);
  return x >= 9.95 ? x.toFixed(1) : x.toFixed(2);
}
function significant(x) {
  if (!known(x)) return 'unknown';
  if (x === 0) return '0';
  const size = Math.abs(x);
  return size >= 100 ? grouped(x) : size >= 1e-3 ? String(+x.toPrecision(3)) : x.toExponential(1);
}
function scoreText(score) {
  if (!score.value) return 'undefined';
  const {low, high} = score.value;
  return low === high ? fixed(low, 3) : fixed(low, 3) + '\u2013' + fixed(high, 3);
}
function scoreCell(score) {
  if (!score.value) return el('td', {title: plural(score.undefined, 'task') + ' with fewer samples'}, 'undefined');
  const [low, high] = score.interval;
  return el('td', {}, scoreText(score) + ' ', el('small', {}, '[' + fixed(low, 2) + ', ' + fixed(high, 2) + ']'));
}
/// The score as a dot, its interval as a line, on an axis from 0 to 1.
function whisker(score, style) {
  const cell = el('td', {class: 'whisker s' + style % 8, 'aria-hidden': 'true', style: 'color:var(--c)'});
  if (!score.value) return cell;
  const width = 92, x = value => 4 + value * (width - 8);
  const svg = svgEl('svg', {width, height: 14, viewBox: '0 0 ' + width + ' 14'});
  svg.append(svgEl('path', {class: 'axis', d: 'M4 13.5H' + (width - 4) + 'M4 11v3M' + x(1) + ' 11v3M' + x(.5) + ' 12v2'}));
  svg.append(svgEl('path', {class: 'span', d: 'M' + x(score.interval[0]) + ' 6H' + x(score.interval[1])}));
  svg.append(svgEl('circle', {class: 'dot', cx: x(score.value.low), cy: 6, r: 2.6}));
  cell.append(svg);
  return cell;
}
function amountText(amount, count, none) {
  if (amount.sum === null || !(count > 0)) return amount.sum === null ? none || 'unknown' : '\u2013';
  return (amount.lower_bound ? '\u2265\u2009' : '') + significant(amount.sum / count);
}
function fill(id, heads, rows) {
  const table = byId(id);
  table.append(el('thead', {}, el('tr', {}, ...heads.map(h => el('th', {scope: 'col', colspan: Array.isArray(h) ? h[1] : null}, Array.isArray(h) ? h[0] : h)))));
  table.append(el('tbody', {}, ...rows));
}
const nameHead = (model, rank) => el('th', {scope: 'row', title: model.name}, rank ? el('small', {}, rank + '\u2002') : null, model.name);

// --- tables --------------------------------------------------------------------------------------
function leaderboard() {
  const first = data.ks[0], last = data.ks[data.ks.length - 1];
  const fast = data.models[0].fast_p.filter(score => score.p > 0);
  const heads = ['model', 'solved', ['pass@' + first, 2]];
  if (last !== first) heads.push('pass@' + last);
  for (const score of fast) heads.push(['fast_' + score.p + '@' + first, score === fast[0] ? 2 : 1], 'at low');
  heads.push('best of ' + last, 'median');
  fill('board', heads, data.models.map((model, i) => {
    const row = el('tr', {}, nameHead(model, i + 1));
    const levels = Object.entries(model.levels).map(([level, own]) => 'level ' + level + ': ' + own.solved + ' of ' + own.tasks);
    row.append(el('td', {title: levels.join('\n')}, model.solved, el('small', {}, '\u2009/\u2009' + data.tasks.length)));
    row.append(whisker(model.pass[first], i), scoreCell(model.pass[first]));
    if (last !== first) row.append(el('td', {title: model.pass[last].value ? model.pass[last].interval.map(x => fixed(x, 2)).join(' to ') : plural(model.pass[last].undefined, 'task') + ' with fewer samples'}, scoreText(model.pass[last])));
    model.fast_p.filter(score => score.p > 0).forEach((score, j) => {
      if (j === 0) row.append(whisker(score.at_point[first], i));
      row.append(scoreCell(score.at_point[first]), el('td', {}, scoreText(score.at_low[first])));
    });
    const best = model.best_of[last], geometric = best.geometric;
    row.append(geometric ? el('td', {}, (best.lower_bound ? '\u2265\u2009' : '') + fixed(geometric.point, 2) + '× ',
                              el('small', {}, '[' + fixed(geometric.low, 2) + ', ' + fixed(geometric.high, 2) + ']'))
                         : el('td', {}, 'undefined'));
    row.append(el('td', {}, known(model.median_speedup) ? fixed(model.median_speedup, 2) + '×' : '\u2013'));
    return row;
  }));
  byId('board-note').textContent = 'Brackets and whiskers: 95% over tasks. Best of ' + last + ': geometric mean of what a task gains by the best of ' + last + ' samples, 1 where none helps. Median: of the best candidate of each solved task.';
  caveats();
}

/// What scores rest on, where there is something to say.
function caveats() {
  const models = data.models, any = take => models.some(model => take(model) > 0);
  const apart = model => model.not_collapsing && model.collapsing ? 1 : 0;
  const columns = [
    [model => model.lost_samples, 'nothing known of', model => grouped(model.lost_samples) + '\u2009/\u2009' + grouped(model.samples) + ' samples'],
    [model => model.confirmed, 'winners measured again', model => model.confirmed + '\u2009/\u2009' + model.solved],
    [model => model.withdrawn, 'did not pass again', model => model.withdrawn],
    [model => model.unconfirmed, 'chosen among several, not measured again', model => model.unconfirmed + '\u2009/\u2009' + model.solved],
    [model => model.funnel[0].lenient, 'leniently found', model => grouped(model.funnel[0].lenient)],
    [model => model.funnel[0].lenient, 'strict pass@1', model => scoreText(model.strict)],
    [model => model.funnel[0].with_builtins, 'correct with built-ins', model => grouped(model.funnel[0].with_builtins)],
    [model => model.funnel[0].with_builtins, 'own kernels’ pass@1', model => scoreText(model.own_kernels)],
    [model => model.funnel[0].tried_at_sizes, 'general pass@1', model => scoreText(model.general)],
    [apart, 'pass without tasks that collapse', model => scoreText(model.not_collapsing.pass)],
    [apart, 'fast_1 without tasks that collapse', model => scoreText(model.not_collapsing.fast_1)],
  ].filter(column => any(column[0]));
  if (!columns.length) return;
  byId('s-caveats').hidden = false;
  fill('caveats', ['what they rest on', ...columns.map(column => column[1])], models.map(model =>
    el('tr', {}, nameHead(model), ...columns.map(column => el('td', {}, column[2](model))))));
  const notes = [];
  if (any(model => model.lost_samples)) notes.push('Where samples are lost, scores lie between all of them wrong and all right.');
  if (any(model => model.unconfirmed)) notes.push('The fastest of several measurements, where it was not measured again, counts by its lower bound, set for that choice.');
  byId('caveats-note').textContent = notes.join(' ');
}

function funnel() {
  const stages = [['candidates', 'hold a candidate'], ['resolved', 'fit the task'], ['compiled', 'compile'], ['ran', 'run'], ['correct', 'are correct'], ['faster', 'are faster']];
  fill('funnel', ['of the answers of', 'answers', ...stages.map(s => s[1]), 'distinct', 'unfinished'], data.models.map((model, i) => {
    const f = model.funnel[0];
    const row = el('tr', {class: 's' + i % 8}, nameHead(model), el('td', {}, grouped(f.answered)));
    for (const [stage] of stages) {
      const share = f.answered ? f[stage] / f.answered : 0;
      row.append(el('td', {title: f[stage] + ' of ' + f.answered}, f.answered ? Math.round(share * 100) + '%' : '\u2013',
                    el('span', {class: 'bar', style: 'color:var(--c);width:' + (share * 100).toFixed(1) + '%'})));
    }
    row.append(el('td', {}, grouped(f.distinct)), el('td', {}, grouped(f.unfinished)));
    return row;
  }));
}

function cost() {
  if (!data.models.some(m => m.spending.output_tokens.sum !== null || m.spending.cost.sum !== null)) return;
  byId('s-cost').hidden = false;
  fill('cost', ['model', 'tokens in', 'tokens out', 'out an answer', 'out a solved task', 'cost', 'a solved task', 'a faster task'], data.models.map(model => {
    const s = model.spending, none = s.input_tokens.known > 0 && s.output_tokens.known > 0 ? 'no price' : 'unknown';
    return el('tr', {}, nameHead(model), ...[[s.input_tokens, 1], [s.output_tokens, 1], [s.output_tokens, s.attempts], [s.output_tokens, s.solved],
      [s.cost, 1, none], [s.cost, s.solved, none], [s.cost, s.faster, none]].map(amount => el('td', {}, amountText(...amount))));
  }));
}

function together() {
  if (!data.swarm) return;
  byId('s-together').hidden = false;
  const rows = data.swarm.members.map((member, i) => el('tr', {}, nameHead(member), el('td', {}, data.models[i].solved),
    el('td', {}, member.won), el('td', {}, member.lost_solved), el('td', {}, member.lost_faster)));
  rows.unshift(el('tr', {}, el('th', {scope: 'row'}, 'all together'), el('td', {}, data.swarm.solved), el('td'), el('td'), el('td')));
  fill('swarm', ['model', 'tasks solved', 'best candidate', 'lost without it', 'of them faster'], rows);
  fill('pairs', ['compared', 'difference of pass@' + data.ks[0], 'only the first', 'only the second', 'p'], data.comparisons.map(c =>
    el('tr', {}, el('th', {scope: 'row'}, c.first + ' \u2212 ' + c.second),
      el('td', {}, c.difference ? fixed(c.difference.point, 3) + ' ' : 'undefined',
        c.difference ? el('small', {}, '[' + fixed(c.difference.low, 3) + ', ' + fixed(c.difference.high, 3) + ']') : null),
      el('td', {}, c.only_first), el('td', {}, c.only_second), el('td', {}, significant(c.p)))));
  byId('pairs-note').textContent = 'Differences are of the same resampled tasks. p is McNemar’s exact test on the tasks solved by any sample; ' +
    plural(data.comparisons.length, 'comparison was', 'comparisons were') + ' made.';
}

// --- the grid ------------------------------------------------------------------------------------
const markOf = index => ({name: data.marks[index][0], text: data.marks[index][1], kind: data.marks[index][2], meaning: data.marks[index][3]});
const plain = name => name.replaceAll('_', ' ');
function shade(speedup) {
  return 'f' + (speedup < .5 ? 0 : speedup < .95 ? 1 : speedup < 1.05 ? 2 : speedup < 1.5 ? 3 : speedup < 2.5 ? 4 : 5);
}
function cellLabel(task, model, cell) {
  let text = task[0] + ' ' + plain(task[1]) + ', ' + model.name + ': ';
  if (cell.mark === undefined) return text + 'no answer';
  if (!cell.speedup) return text + plain(markOf(cell.mark).name) + ', none of ' + plural(cell.n + cell.lost, 'sample') + ' correct';
  text += 'correct in ' + cell.c + ' of ' + plural(cell.n + cell.lost, 'sample') + ', best ' + speedText(cell.speedup.point) + ' times the baseline’s speed';
  if (known(cell.confirmed)) text += cell.confirmed > 0 ? ', ' + speedText(cell.confirmed) + ' when measured again' : ', which did not pass again';
  return text;
}
const cellOf = (task, model) => data.cells[model * data.tasks.length + task];
const grid = [];  // per task of the order shown: its cells
function cellNode(t, m, row) {
  const cell = cellOf(t, m), task = data.tasks[t], model = data.models[m];
  const label = cellLabel(task, model, cell);
  const node = el('td', {role: 'gridcell', tabindex: -1, title: label, 'aria-label': label});
  if (cell.speedup && cell.confirmed !== 0) {
    const value = known(cell.confirmed) ? cell.confirmed : cell.speedup.point;
    node.className = 'c ' + shade(value);
    node.append(speedText(value));
    if (known(cell.confirmed)) node.append(el('sup', {}, '✓'));
  } else if (cell.speedup) {
    node.className = 'c bad';
    node.append('again');
  } else if (cell.mark !== undefined) {
    const mark = markOf(cell.mark);
    node.className = 'c ' + mark.kind;
    node.append(mark.text);
  } else {
    node.className = 'c none';
    node.append('·');
  }
  const samples = cell.n + cell.lost;
  if (cell.c > 0 && samples > 1) node.append(el('u', {style: 'width:' + (100 * cell.c / samples).toFixed(0) + '%'}));
  node.addEventListener('click', () => { focusCell(row, m); open(t, m, node); });
  node.addEventListener('keydown', event => onKey(event, row, m, t, node));
  return node;
}
let current = [0, 0];
function focusCell(row, column) {
  grid[current[0]][current[1]].tabIndex = -1;
  current = [Math.max(0, Math.min(grid.length - 1, row)), Math.max(0, Math.min(data.models.length - 1, column))];
  const node = grid[current[0]][current[1]];
  node.tabIndex = 0;
  node.focus();
}
function onKey(event, row, column, t, node) {
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0]};
  if (event.key === 'Enter' || event.key === ' ') open(t, column, node);
  else if (event.key === 'Home') focusCell(event.ctrlKey ? 0 : row, 0);
  else if (event.key === 'End') focusCell(event.ctrlKey ? grid.length - 1 : row, data.models.length - 1);
  else if (moves[event.key]) focusCell(row + moves[event.key][0], column + moves[event.key][1]);
  else return;
  event.preventDefault();
}
function grids() {
  const models = data.models.length, chunks = models <= 3 ? 3 : models <= 8 ? 2 : 1;
  const levels = [...new Set(data.tasks.map(task => task[2]))];
  for (const level of levels) {
    const tasks = data.tasks.map((task, t) => t).filter(t => data.tasks[t][2] === level);
    const size = Math.max(Math.ceil(tasks.length / chunks), 6);
    byId('grids').append(el('h3', {}, 'Level ' + level + ', ' + plural(tasks.length, 'task')));
    const box = el('div', {class: 'chunks'});
    for (let begin = 0; begin < tasks.length; begin += size) {
      const own = tasks.slice(begin, begin + size);
      const table = el('table', {class: 'grid', role: 'grid', 'aria-label': 'Level ' + level + ', tasks ' + data.tasks[own[0]][0] + ' to ' + data.tasks[own[own.length - 1]][0]});
      table.append(el('thead', {}, el('tr', {role: 'row'}, el('td', {role: 'columnheader', 'aria-label': 'task'}), ...data.models.map(model => el('th', {scope: 'col', role: 'columnheader', title: model.name}, el('span', {}, model.name))))));
      const body = el('tbody');
      for (const t of own) {
        const [id, name] = data.tasks[t];
        const row = grid.length, nodes = data.models.map((model, m) => cellNode(t, m, row));
        grid.push(nodes);
        body.append(el('tr', {role: 'row'}, el('th', {scope: 'row', role: 'rowheader', title: id + ' ' + name}, el('i', {}, id.split('/')[1]), plain(name)), ...nodes));
      }
      table.append(body);
      box.append(table);
    }
    byId('grids').append(box);
  }
  grid[0][0].tabIndex = 0;
}
function legend() {
  const item = (klass, text, meaning) => el('span', {class: 'item'}, el('span', {class: 'c ' + klass}, text), meaning);
  const box = byId('legend');
  box.append(item('f0', '0.4', 'under half the baseline’s speed'), item('f1', '0.8', 'slower'), item('f2', '1.0', 'as fast'), item('f3', '1.2', 'faster'), item('f4', '2.0', 'from 1.5'), item('f5', '4.0', 'from 2.5'));
  const used = new Set(data.cells.filter(cell => cell.mark !== undefined && !cell.speedup).map(cell => cell.mark));
  for (const index of [...used].sort((a, b) => b - a)) {
    const mark = markOf(index);
    box.append(item(mark.kind, mark.text, plain(mark.name)));
  }
  if (data.cells.some(cell => cell.confirmed === 0)) box.append(item('bad', 'again', 'did not pass again'));
  const several = data.cells.some(cell => cell.n + cell.lost > 1);
  byId('grid-note').textContent = 'The number is the best candidate’s speed over the baseline’s' +
    (data.cells.some(cell => known(cell.confirmed)) ? ', ✓ as measured again with a fresh seed' : '') + '; a word is how far the model’s answers came.' +
    (several ? ' The line below shows the share of correct samples.' : '');
  byId('grid-note').append(el('span', {class: 'screen'}, ' Arrow keys move, ', el('kbd', {}, 'Enter'), ' opens what stands behind a cell.'));
}

// --- what stands behind a cell -------------------------------------------------------------------
const pool = index => known(index) ? data.pool[index] : '';
function block(title, text, options) {
  if (!text) return null;
  const note = plural(text.length, 'character');
  return el('details', {open: options && options.open ? '' : null}, el('summary', {}, el('span', {class: options && options.who ? 'who' : null}, title), ' ', el('small', {}, note)),
    el('pre', {class: options && options.code ? 'code' : null, tabindex: 0}, text));
}
function facts(pairs) {
  return el('dl', {}, ...pairs.filter(pair => known(pair[1]) && pair[1] !== '').map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}
function measuredFacts(m) {
  return facts([['candidate', significant(m.candidate_ms) + ' ms'], ['baseline', significant(m.baseline_ms) + ' ms'], ['setup', m.setup_ms > 0 ? significant(m.setup_ms) + ' ms' : null],
    ['least bytes over time', m.gbytes_per_s > 0 ? significant(m.gbytes_per_s) + ' GB/s' : null], ['FLOPs over time', m.tflops > 0 ? significant(m.tflops) + ' TFLOP/s' : null],
    ['worst error over tolerance’s scale', significant(m.max_error)], ['compiling', m.compile_s > 0 ? significant(m.compile_s) + ' s' : null], ['timed pairs', m.samples], ['processors', m.busy ? 'kept busy by others' : null],
    ['device', m.device], ['preset', m.preset]]);
}
function attemptNode(t, m, sample, attempt) {
  const [number, markIndex, speedup, textIndex] = attempt;
  const mark = markOf(markIndex), text = known(textIndex) ? data.texts[textIndex] : null;
  const box = el('div', {id: 'd-attempt', 'aria-live': 'polite'});
  box.append(el('h3', {}, 'Sample ' + sample + (data.longest > 1 ? ', attempt ' + number : '') + ': ' + plain(mark.name) + (known(speedup) ? ', ' + speedText(speedup) + '×' : '')));
  box.append(el('p', {class: 'note'}, mark.meaning));
  if (!text) {
    box.append(el('p', {}, 'Its texts are not in this page (see the rule at the page’s foot); they are in the run’s folder.'));
    return box;
  }
  if (text.message) box.append(el('p', {}, text.message));
  if (text.measured) box.append(measuredFacts(text.measured));
  if (text.diagnostics && text.diagnostics.length) box.append(el('h3', {}, 'Diagnostics'), el('pre', {tabindex: 0}, text.diagnostics.map(d => d[0]).join('\n')));
  const talk = [], messages = text.prompt || [];
  messages.forEach(([role, index], i) => talk.push(block(role, pool(index), {who: true, open: i > 0 && i === messages.length - 1})));
  talk.push(block('thoughts', pool(text.reasoning), {who: true}), block('answer', pool(text.answer), {who: true, open: true}), block('feedback', pool(text.feedback), {who: true, open: true}));
  const code = (text.code || []).map(([name, index]) => block(name, pool(index), {open: true, code: true}));
  if (code.length) box.append(el('h3', {}, 'Code'), ...code);
  if (talk.some(Boolean)) {
    box.append(el('h3', {}, 'Conversation'));
    box.append(facts([['answered by', text.answered_by], ['ended', text.finish], ['tokens in', text.tokens && known(text.tokens[0]) ? grouped(text.tokens[0]) : null],
      ['tokens out', text.tokens && known(text.tokens[1]) ? grouped(text.tokens[1]) : null], ['waited', text.seconds ? significant(text.seconds) + ' s' : null],
      ['overlooked', (text.leniencies || []).map(plain).join(', ')]]));
    box.append(...talk.filter(Boolean));
  }
  return box;
}
let opener = null;
function open(t, m, from) {
  const cell = cellOf(t, m), task = data.tasks[t], model = data.models[m], body = byId('d-body');
  byId('d-title').textContent = task[0] + ' ' + plain(task[1]) + ' \u2014 ' + model.name;
  body.replaceChildren(el('p', {class: 'note'}, cellLabel(task, model, cell) + '.'));
  if (cell.speedup) body.append(facts([['best speedup', speedText(cell.speedup.point) + '×  [' + speedText(cell.speedup.low) + ', ' + (known(cell.speedup.high) ? speedText(cell.speedup.high) : '∞') + ']'],
    ['measured again', known(cell.confirmed) ? speedText(cell.confirmed) + '×' : null]]));
  const strip = el('div', {class: 'samples', role: 'group', 'aria-label': 'attempts'});
  let shownAttempt = null;
  const show = (button, sample, attempt) => {
    for (const other of strip.querySelectorAll('button')) other.setAttribute('aria-pressed', other === button);
    const node = attemptNode(t, m, sample, attempt);
    if (shownAttempt) shownAttempt.replaceWith(node); else body.append(node);
    shownAttempt = node;
  };
  body.append(strip);
  for (const [sample, ...attempts] of cell.chains || []) {
    const group = el('div', {}, el('span', {}, sample));
    for (const attempt of attempts) {
      const mark = markOf(attempt[1]), passed = known(attempt[2]);
      const button = el('button', {type: 'button', class: passed ? shade(attempt[2]) : mark.kind, 'aria-pressed': 'false',
        'aria-label': 'sample ' + sample + ', attempt ' + attempt[0] + ', ' + plain(mark.name)}, passed ? speedText(attempt[2]) : mark.text);
      button.addEventListener('click', () => show(button, sample, attempt));
      group.append(button);
      if (sample === cell.telling[0] && attempt[0] === cell.telling[1]) show(button, sample, attempt);
    }
    strip.append(group);
  }
  if (cell.more > 0) strip.append(el('span', {}, 'and ' + plural(cell.more, 'sample') + ' more in the run’s folder'));
  opener = from;
  byId('detail').showModal();
  byId('detail').scrollTop = 0;
  byId('d-close').focus();
}
byId('detail').addEventListener('close', () => { if (opener) opener.focus(); });
byId('detail').addEventListener('click', event => { if (event.target === byId('detail')) byId('detail').close(); });

// --- the page ------------------------------------------------------------------------------------
function page() {
  const several = data.longest > 1 ? ', up to ' + data.longest + ' a sample' : '';
  byId('lede').textContent = plural(data.models.length, 'model') + ', ' + plural(data.tasks.length, 'task') + ', ' + plural(data.attempts, 'attempt') + several +
    (data.device ? '. Judged on ' + data.device : '') + (data.preset ? ' at preset ' + data.preset : '') + '.';
  if (data.software) {
    byId('warning').hidden = false;
    byId('warning').textContent = 'Timed on a software device (a CPU): the speedups say nothing about a GPU.';
  }
  byId('notes').append(...data.notes.map(note => el('p', {class: 'note'}, note)));
  for (const name of document.querySelectorAll('.chart .name')) {
    const style = +name.dataset.style, text = name.closest('#fig-swarm') && style === 7 ? 'all together' : data.models[style].name;
    name.textContent = text.length > 16 ? text.slice(0, 15) + '…' : text;
  }
  leaderboard();
  funnel();
  cost();
  together();
  grids();
  legend();
  const [included, all] = data.shown, [text, thoughts, total] = data.limits;
  const kib = bytes => Math.round(bytes / 1024) + ' KiB';
  byId('foot').textContent = 'kbench ' + data.kbench + '. The texts of ' + grouped(included) + ' of ' + grouped(all) + ' attempts are in this page: of every cell the best attempt, or where none is correct the one that came furthest; then its other attempts; then the other samples, up to ' +
    kib(total) + ' in all. A text of more than ' + kib(text) + ' (thoughts: ' + kib(thoughts) + ') is cut in the middle.';
  document.documentElement.dataset.ready = 'yes';
}
page();
