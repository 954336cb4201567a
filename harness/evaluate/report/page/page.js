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
function svgEl(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// --- numbers -------------------------------------------------------------------------------------
const known = x => x !== null && x !== undefined;
const plural = (n, one, many) => n + ' ' + (n === 1 ? one : many || one + 's');
const grouped = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u2009');
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

// --- tables --------------------------------------------------------------------------------------
/// A share as a dot, its interval as a line, on an axis from 0 to 1.
function whisker(value, low, high) {
  const width = 92, x = share => 4 + share * (width - 8);
  return svgEl('svg', {class: 'whisker', width, height: 14, viewBox: '0 0 ' + width + ' 14', 'aria-hidden': 'true'},
    svgEl('path', {class: 'axis', d: 'M4 13.5H' + (width - 4) + 'M4 11v3M' + x(1) + ' 11v3M' + x(.5) + ' 12v2'}),
    svgEl('path', {class: 'span', d: 'M' + x(low) + ' 6H' + x(high)}),
    svgEl('circle', {class: 'dot', cx: x(value), cy: 6, r: 2.6}));
}
/// What stands in brackets is small. The first share of a row is drawn, a percentage has a bar.
function tableRow([name, ...texts]) {
  const row = el('tr', {}, el('th', {scope: 'row', class: name.startsWith('  ') ? 'part' : null}, name.trim()));
  let drawn = false;
  for (const text of texts) {
    const [, value, brackets] = text.match(/^(.*?)( ?[[(].*)?$/);
    const share = !drawn && text.match(/^([01]\.\d{3}).* \[([01]\.\d+),([01]\.\d+)\]/);
    const cell = el('td', {}, share ? whisker(...share.slice(1).map(Number)) : null, value, brackets ? el('small', {}, brackets) : null);
    drawn = drawn || share;
    if (/^\d+%$/.test(text)) cell.append(el('span', {class: 'bar', style: 'width:' + text}));
    row.append(cell);
  }
  return row;
}
function tableNode({title, rows: [heads, ...rows], note}, index) {
  const table = el('table', {class: 'numbers'}, el('thead', {}, el('tr', {}, ...heads.map(head => el('th', {scope: 'col'}, head)))), el('tbody', {}, ...rows.map(tableRow)));
  return el('section', {'aria-labelledby': 'h-' + index}, el('h2', {id: 'h-' + index}, title),
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title}, table), note ? el('p', {class: 'note'}, note) : null);
}

// --- charts --------------------------------------------------------------------------------------
// The vertical axis is a share from 0 to 1. At most eight models are drawn, each in its own style.
const kWidth = 460, kHeight = 250, kLeft = 38, kRight = 122, kTop = 12, kBottom = 36, kNameHeight = 12;
const kMarks = [
  ['m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0', 'dot'],
  ['m-2.5 -2.5h5v5h-5z', 'dot'],
  ['m0 -3.5l3.2 5.6h-6.4z', 'dot'],
  ['m0 -3.4l3.4 3.4l-3.4 3.4l-3.4 -3.4z', 'dot'],
  ['m0 3.5l3.2 -5.6h-6.4z', 'dot full'],
  ['m-3.2 0h6.4m-3.2 -3.2v6.4', 'dot'],
  ['m-2.5 -2.5l5 5m0 -5l-5 5', 'dot'],
  ['m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0', 'dot full'],
];
const kCharts = [
  {title: 'fast_p@' + data.k + ' against p', x: 'p: times the baseline’s speed', y: 'share of tasks correct and more than p times as fast', mark: 1, steps: true, of: 'fast', below: 'fast_low'},
  {title: 'pass@k', x: 'k samples', y: 'share of tasks solved by one of k samples', log: true, least: 2, of: 'pass'},
  {title: 'Correct by attempt', x: 'attempt', y: 'share of samples correct by then; thin: fast_1', least: 2, of: 'correct_by', below: 'fast_by'},
  {title: 'All models together, at equal calls', x: 'calls a task', y: 'share of tasks solved by then', log: true, least: 2, of: 'alone', together: true},
];
/// A readable number of ticks.
function ticksOf(first, last, log) {
  const most = 8, ticks = [];
  if (log) {
    for (let decade = 10 ** Math.floor(Math.log10(first)); decade <= last; decade *= 10) {
      for (const tick of [decade, 2 * decade, 5 * decade]) if (tick >= first * .999 && tick <= last * 1.001) ticks.push(tick);
    }
    return ticks.length > most ? ticks.filter(tick => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < .01) : ticks;
  }
  let step = 10 ** Math.floor(Math.log10(last - first));
  while ((last - first) / step > most) step *= 2;
  for (const part of [.5, .4]) if ((last - first) / (step * part) <= most) step *= part;
  for (let tick = Math.ceil(first / step) * step; tick <= last * 1.001; tick += step) ticks.push(Math.abs(tick) < step / 1000 ? 0 : tick);
  return ticks;
}
/// The heights of the names: as near to their lines' ends as possible without overlapping.
function nameHeights(ends) {
  const order = ends.map((end, i) => i).sort((a, b) => ends[a] - ends[b]), heights = [];
  let last = kTop - kNameHeight, next = kHeight - kBottom + kNameHeight;
  for (const i of order) last = heights[i] = Math.max(ends[i], last + kNameHeight);
  for (const i of order.reverse()) next = heights[i] = Math.min(heights[i], next - kNameHeight);
  return heights;
}
function chart(spec) {
  const lines = data.models.slice(0, spec.together ? 7 : 8).map((model, style) => ({name: model.name, style, points: model[spec.of] || [], below: model[spec.below] || []}));
  if (spec.together) lines.push({name: 'all together', style: 7, points: data.together, below: []});
  if (!lines.some(line => line.points.length >= (spec.least || 1))) return null;
  const drawn = lines.filter(line => line.points.length), xs = drawn.flatMap(line => line.points.map(point => point[0]));
  const scaled = value => spec.log ? Math.log(value) : value;
  const first = Math.min(...xs), last = Math.max(...xs) > first ? Math.max(...xs) : first + 1;
  const round = value => +value.toFixed(1);
  const x = value => round(kLeft + (scaled(value) - scaled(first)) / (scaled(last) - scaled(first)) * (kWidth - kLeft - kRight));
  const y = share => round(kHeight - kBottom - Math.max(0, Math.min(1, share)) * (kHeight - kTop - kBottom));
  const curve = (points, at) => points.map((point, i) => (i && spec.steps ? 'H' + x(point[0]) : '') + (i ? 'L' : 'M') + x(point[0]) + ' ' + y(point[at])).join('');
  // A value holds from its x on where there are steps.
  const band = points => curve(points, 3) + points.map((point, i) => (spec.steps && i + 1 < points.length ? 'V' + y(point[2]) : '') + 'L' + x(point[0]) + ' ' + y(point[2])).reverse().join('') + 'Z';
  const svg = svgEl('svg', {class: 'chart', viewBox: '0 0 ' + kWidth + ' ' + kHeight, role: 'img', 'aria-label': spec.title + ': ' + spec.y});
  const path = (to, name, d) => to.append(svgEl('path', {class: name, d}));
  const words = (to, attributes, text) => { const node = svgEl('text', attributes); node.textContent = text; to.append(node); };
  for (const tick of [0, .2, .4, .6, .8, 1]) {
    path(svg, tick ? 'grid' : 'axis', 'M' + kLeft + ' ' + y(tick) + 'H' + (kWidth - kRight));
    words(svg, {class: 'tick', x: kLeft - 6, y: y(tick) + 3.5, 'text-anchor': 'end'}, tick.toFixed(1));
  }
  for (const tick of ticksOf(first, last, spec.log)) {
    path(svg, 'axis', 'M' + x(tick) + ' ' + y(0) + 'v4');
    words(svg, {class: 'tick', x: x(tick), y: y(0) + 15, 'text-anchor': 'middle'}, +tick.toPrecision(4));
  }
  if (spec.mark) path(svg, 'mark-x', 'M' + x(spec.mark) + ' ' + y(0) + 'V' + y(1));
  words(svg, {class: 'label', x: (kLeft + kWidth - kRight) / 2, y: kHeight - 5, 'text-anchor': 'middle'}, spec.x);
  const heights = nameHeights(drawn.map(line => y(line.points.at(-1)[1])));
  for (const [i, line] of [...drawn.entries()].reverse()) {  // the first last, on top
    const group = svgEl('g', {class: 's' + line.style}), end = line.points.at(-1), [shape, name] = kMarks[line.style];
    path(group, 'band', band(line.points));
    if (line.below.length) path(group, 'below', curve(line.below, 1));
    path(group, 'line', curve(line.points, 1));
    const every = Math.ceil(line.points.length / 10);  // a mark at each point, or at about ten of many
    for (const point of line.points.filter((_, j) => j % every === 0)) path(group, name, 'M' + x(point[0]) + ' ' + y(point[1]) + shape);
    path(group, 'leader', 'M' + (x(end[0]) + 4) + ' ' + y(end[1]) + 'L' + (kWidth - kRight + 6) + ' ' + heights[i]);
    words(group, {class: 'name', x: kWidth - kRight + 8, y: heights[i] + 3.5}, line.name.length > 16 ? line.name.slice(0, 15) + '…' : line.name);
    svg.append(group);
  }
  return el('figure', {}, svg, el('figcaption', {}, el('b', {}, spec.title + '.'), ' ' + spec.y));
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
    box.append(facts([['ended', text.finish], ['tokens in', text.tokens && known(text.tokens[0]) ? grouped(text.tokens[0]) : null],
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
  byId('lede').textContent = data.heading + '.';
  byId('remarks').append(...data.remarks.map(remark => el('p', {class: 'note'}, remark)));
  const [leaderboard, ...others] = data.tables.map(tableNode);
  byId('first').append(leaderboard);
  byId('charts').append(...kCharts.map(chart).filter(Boolean));
  byId('tables').append(...others);
  grids();
  legend();
  const [included, all] = data.shown, [text, thoughts, total] = data.limits;
  const kib = bytes => Math.round(bytes / 1024) + ' KiB';
  byId('foot').textContent = 'kbench ' + data.kbench + '. The texts of ' + grouped(included) + ' of ' + grouped(all) + ' attempts are in this page: of every cell the best attempt, or where none is correct the one that came furthest; then its other attempts; then the other samples, up to ' +
    kib(total) + ' in all. A text of more than ' + kib(text) + ' (thoughts: ' + kib(thoughts) + ') is cut in the middle.';
  document.documentElement.dataset.ready = 'yes';
}
page();
