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

const markOf = index => ({name: data.marks[index][0], text: data.marks[index][1], kind: data.marks[index][2], meaning: data.marks[index][3]});

// --- words and numbers ---------------------------------------------------------------------------
const plain = name => name.replaceAll('_', ' ');
const levelName = level => level > 0 ? 'Level ' + level : 'Own tasks';
const shortened = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
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

/// As a tick of an axis.
const numberText = x => x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(0) : String(+x.toPrecision(4));

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
// At most eight models are drawn, each in its own style. Curves are of shares, from 0 to 1.
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
  {title: 'pass@k', x: 'k samples', y: 'share of tasks solved by one of k samples', log: true, whole: true, least: 2, of: 'pass'},
  {title: 'Correct by attempt', x: 'attempt', y: 'share of samples correct by then; thin: fast_1', whole: true, least: 2, of: 'correct_by', below: 'fast_by'},
  {title: 'All models together, at equal calls', x: 'calls a task', y: 'share of tasks solved by then', log: true, whole: true, least: 2, of: 'alone', together: true},
];
/// A readable number of ticks, at whole numbers where attempts are counted.
function ticksOf(first, last, log, whole) {
  const most = 8, ticks = [];
  if (log) {
    for (let decade = 10 ** Math.floor(Math.log10(first)); decade <= last; decade *= 10) {
      for (const tick of [decade, 2 * decade, 5 * decade]) if (tick >= first * .999 && tick <= last * 1.001 && (!whole || tick > .9)) ticks.push(tick);
    }
    if (ticks.length <= most) return ticks;
    const decades = ticks.filter(tick => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < .01), every = Math.ceil(decades.length / most);
    return decades.filter((_, i) => i % every === 0);
  }
  let step = 10 ** Math.floor(Math.log10(last - first));
  while ((last - first) / step > most) step *= 2;
  for (const part of [.5, .4]) if ((last - first) / (step * part) <= most && (!whole || Number.isInteger(step * part))) step *= part;
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
/// An empty chart, and where values stand in it. An axis is {first, last, log, ticks, text}; what is
/// beyond its ends is drawn at them.
function axes(spec, across, up, width = kWidth) {
  const scale = ({first, last, log}, from, to) => value => {
    const [at, low, high] = [Math.max(first, Math.min(last, value)), first, last].map(log ? Math.log : Number);
    return +(from + (at - low) / (high - low) * (to - from)).toFixed(1);
  };
  const right = width - kRight, bottom = kHeight - kBottom, x = scale(across, kLeft, right), y = scale(up, bottom, kTop);
  const svg = svgEl('svg', {class: 'chart', viewBox: '0 0 ' + width + ' ' + kHeight, role: 'img', 'aria-label': spec.title + ': ' + spec.y});
  const path = (to, name, d) => to.append(svgEl('path', {class: name, d}));
  const words = (to, attributes, text) => to.append(svgEl('text', attributes, text));
  for (const tick of up.ticks) {
    path(svg, 'grid', 'M' + kLeft + ' ' + y(tick) + 'H' + right);
    words(svg, {class: 'tick', x: kLeft - 6, y: y(tick) + 3.5, 'text-anchor': 'end'}, up.text(tick));
  }
  path(svg, 'axis', 'M' + kLeft + ' ' + bottom + 'H' + right);
  for (const tick of across.ticks) {
    path(svg, 'axis', 'M' + x(tick) + ' ' + bottom + 'v4');
    words(svg, {class: 'tick', x: x(tick), y: bottom + 15, 'text-anchor': 'middle'}, across.text(tick));
  }
  words(svg, {class: 'label', x: (kLeft + right) / 2, y: kHeight - 5, 'text-anchor': 'middle'}, spec.x);
  const named = (to, name, height) => words(to, {class: 'name', x: right + 12, y: height + 3.5}, shortened(name, 16));
  return {svg, x, y, right, path, named, figure: () => el('figure', {}, svg, el('figcaption', {}, el('b', {}, spec.title + '.'), ' ' + spec.y))};
}
function chart(spec) {
  const lines = data.models.slice(0, spec.together ? 7 : 8).map((model, style) => ({name: model.name, style, points: model[spec.of] || [], below: model[spec.below] || []}));
  if (spec.together) lines.push({name: 'all together', style: 7, points: data.together, below: []});
  if (!lines.some(line => line.points.length >= (spec.least || 1))) return null;
  const drawn = lines.filter(line => line.points.length), xs = drawn.flatMap(line => line.points.map(point => point[0]));
  const first = Math.min(...xs), last = Math.max(...xs) > first ? Math.max(...xs) : first + 1;
  const {svg, x, y, right, path, named, figure} = axes(spec, {first, last, log: spec.log, ticks: ticksOf(first, last, spec.log, spec.whole), text: numberText},
    {first: 0, last: 1, ticks: [0, .2, .4, .6, .8, 1], text: tick => tick.toFixed(1)});
  const curve = (points, at) => points.map((point, i) => (i && spec.steps ? 'H' + x(point[0]) : '') + (i ? 'L' : 'M') + x(point[0]) + ' ' + y(point[at])).join('');
  // A value holds from its x on where there are steps.
  const band = points => curve(points, 3) + points.map((point, i) => (spec.steps && i + 1 < points.length ? 'V' + y(point[2]) : '') + 'L' + x(point[0]) + ' ' + y(point[2])).reverse().join('') + 'Z';
  if (spec.mark) path(svg, 'mark-x', 'M' + x(spec.mark) + ' ' + y(0) + 'V' + y(1));
  const heights = nameHeights(drawn.map(line => y(line.points.at(-1)[1])));
  for (const [i, line] of [...drawn.entries()].reverse()) {  // the first last, on top
    const group = svgEl('g', {class: 's' + line.style}), end = line.points.at(-1), [shape, name] = kMarks[line.style];
    path(group, 'band', band(line.points));
    if (line.below.length) path(group, 'below', curve(line.below, 1));
    path(group, 'line', curve(line.points, 1));
    const every = Math.ceil(line.points.length / 10);  // a mark at each point, or at about ten of many
    for (const point of line.points.filter((_, j) => j % every === 0)) path(group, name, 'M' + x(point[0]) + ' ' + y(point[1]) + shape);
    path(group, 'leader', 'M' + (x(end[0]) + 4) + ' ' + y(end[1]) + 'L' + (right + 10) + ' ' + heights[i]);
    named(group, line.name, heights[i]);
    svg.append(group);
  }
  return figure();
}

// --- the best candidate of each cell -------------------------------------------------------------
/// The speedup that counts: as measured again where it was; nothing where none passed, or not again.
function worthOf(cell) {
  if (!cell.confirmed) return cell.speedup;
  return cell.confirmed.point > 0 ? cell.confirmed : undefined;
}
/// The device's own rates, [GB/s, TFLOP/s], infinite where they are not known.
const roofs = new Map(data.roofs);
const roofOf = device => (roofs.get(device) || [0, 0]).map(rate => rate > 0 ? rate : Infinity);
/// What a candidate reaches of them: the larger share, and of which it is.
function shareOf(measured) {
  const [copy, arithmetic] = roofOf(measured.device), shares = [measured.gbytes_per_s / copy || 0, measured.tflops / arithmetic || 0];
  return {share: Math.max(...shares), bound: shares[0] >= shares[1] ? 'copy' : 'arithmetic'};
}
const shareText = ({share, bound}, before) => share ? before + (100 * share).toFixed(share < .0995 ? 1 : 0) + '% of ' + bound : '';
const candidates = data.cells.map((cell, i) => {
  const t = i % data.tasks.length, m = Math.floor(i / data.tasks.length), [id, name, level] = data.tasks[t], worth = worthOf(cell);
  const telling = (cell.chains || [[]])[0].find(attempt => attempt[0] === cell.telling[1]);
  const text = telling && known(telling[3]) ? data.texts[telling[3]] : {}, measured = worth && text.measured || {};
  return {t, m, level, task: id + ' ' + plain(name), name: data.models[m].name, worth, ...measured, ...shareOf(measured),
    outcome: cell.mark === undefined ? 'no answer' : cell.speedup && !worth ? 'did not pass again' : plain(markOf(cell.mark).name)};
});
const correct = candidates.filter(each => each.worth);
const speedupText = ({point, low, high}) => [speedText(point) + '×', '[' + speedText(low) + ', ' + (known(high) ? speedText(high) : '∞') + ']'];
/// A forged file may hold numbers so small or large that no axis has ticks for them.
function logAxis(values) {
  const first = Math.max(1e-300, Math.min(...values) / 1.15), last = Math.min(1e300, Math.max(...values) * 1.15), ticks = ticksOf(first, last, true);
  return {first, last, log: true, ticks: ticks.length > 2 ? ticks : ticksOf(first, last), text: numberText};
}
/// A mark for each of these candidates, of the first eight models; a click opens what stands behind
/// it, as does the table of tasks. `at` gives [x, y, low, high], without the last two where there is
/// no interval.
function scatter({svg, x, y, right, path, named, figure}, each, at) {
  const models = data.models.slice(0, kMarks.length);
  for (const [m, model] of [...models.entries()].reverse()) {  // the first last, on top
    const group = svgEl('g', {class: 's' + m}), [shape, name] = kMarks[m], height = kTop + 6 + m * kNameHeight;
    for (const one of each.filter(one => one.m === m)) {
      const [across, up, low, high] = at(one), point = svgEl('g', {class: 'point'}, svgEl('title', {}, one.task + ', ' + one.name + ': ' + speedupText(one.worth).join(' ') + shareText(one, ', ')));
      if (known(low)) path(point, 'span', 'M' + x(across) + ' ' + y(low) + 'V' + y(high));
      path(point, name, 'M' + x(across) + ' ' + y(up) + shape);
      point.addEventListener('click', () => open(one.t, m, null));
      group.append(point);
    }
    path(group, name, 'M' + (right + 6) + ' ' + height + shape);
    named(group, model.name, height);
    svg.append(group);
  }
  return figure();
}
/// Every task has its place, so that those without a mark are seen, too.
function speedups() {
  const tasks = data.tasks.length, width = 960, column = (width - kLeft - kRight) / tasks, models = Math.min(data.models.length, kMarks.length);
  const points = correct.map(one => one.worth.point), high = one => known(one.worth.high) ? one.worth.high : Infinity;
  const least = Math.min(...points) / 3, most = Math.max(...points) * 3;  // an interval beyond these is cut
  const up = logAxis([1, ...points, ...correct.map(one => Math.max(one.worth.low, least)), ...correct.map(one => Math.min(high(one), most))]);
  const ticks = (tasks > 24 ? ticksOf(0, tasks - 1) : data.tasks.map((_, t) => t)).filter(t => data.tasks[t]);
  const drawn = axes({title: 'Speedup on each task', x: 'task', y: 'times the baseline’s speed, of the best candidate; the lines are 95% intervals, cut where they leave the figure'},
    {first: -.5, last: tasks - .5, ticks, text: t => shortened(data.tasks[t][0].replace('level', ''), 7)}, up, width);
  drawn.svg.classList.add('wide');
  drawn.path(drawn.svg, 'mark-x', 'M' + kLeft + ' ' + drawn.y(1) + 'H' + drawn.right);
  const step = Math.min(.8 / models, 7 / column);  // models beside each other
  return scatter(drawn, correct, one => [one.t + (one.m - (models - 1) / 2) * step, one.worth.point, one.worth.low, high(one)]);
}
/// The share of a roof is claimed only where the judge, or the run, has recorded the device's own rates.
function roofline() {
  const placed = correct.filter(one => one.tflops > 0 && one.gbytes_per_s > 0), intensity = one => 1e3 * one.tflops / one.gbytes_per_s;
  if (!placed.length) return null;
  const devices = [...new Set(placed.map(one => one.device))].filter(device => roofs.has(device));
  const roofAt = (device, flops) => { const [copy, arithmetic] = roofOf(device); return Math.min(copy * flops / 1e3, arithmetic); };
  const across = logAxis(placed.map(intensity)), ends = [across.first, across.last];
  const up = logAxis([...placed.map(one => one.tflops), ...devices.flatMap(device => ends.map(flops => roofAt(device, flops)).filter(isFinite))]);
  const lines = devices.map(device => {
    const [copy, arithmetic] = roofOf(device);
    return ' ' + device + (copy < Infinity ? ' copies ' + significant(copy) + ' GB/s' : '') + (arithmetic < Infinity ? (copy < Infinity ? ' and' : '') + ' multiplies and adds ' + significant(arithmetic) + ' TFLOP/s in float32' : '') + '.';
  });
  const drawn = axes({title: lines.length ? 'Roofline' : 'Rates reached', x: 'FLOP of the task to a byte that it must move', y: 'TFLOP/s of the best candidates. ' +
    (lines.length ? 'The line is the device’s own measured rates:' + lines.join('') + ' Matrix units and caches reach more.' : 'No result here records the device’s own rates, so no roof is drawn and no share of it given.') +
    (placed.length < correct.length ? ' ' + (correct.length - placed.length) + ' of ' + correct.length + ' are not in it: they have no FLOPs, or their times are not in this page.' : '')}, across, up);
  for (const device of devices) {
    const [copy, arithmetic] = roofOf(device), bends = [ends[0], 1e3 * arithmetic / copy, ends[1]].filter(flops => flops >= ends[0] && flops <= ends[1]);
    drawn.path(drawn.svg, 'roof', 'M' + bends.map(flops => drawn.x(flops) + ' ' + drawn.y(roofAt(device, flops))).join('L'));
  }
  return scatter(drawn, placed, one => [intensity(one), one.tflops]);
}

// --- the table of tasks --------------------------------------------------------------------------
function taskTable() {
  const numbers = (head, value, text) => ({head, value, text: text || (one => value(one) > 0 ? significant(value(one)) : '–'), falls: true});
  const columns = [{head: 'task', value: one => one.t}, {head: data.of, value: one => one.name}, {head: 'outcome', value: one => one.outcome},
    numbers('speedup', one => one.worth && one.worth.point, one => one.worth ? speedupText(one.worth)[0] : '–'),
    numbers('interval', one => one.worth && one.worth.low, one => one.worth ? speedupText(one.worth)[1] : ''),
    numbers('ms', one => one.candidate_ms), numbers('baseline ms', one => one.baseline_ms), numbers('GB/s', one => one.gbytes_per_s), numbers('TFLOP/s', one => one.tflops)];
  const shares = candidates.some(one => one.share);
  if (shares) columns.push(numbers('of the roof', one => one.share || undefined, one => shareText(one, '') || '–'));
  const rows = candidates.map(one => {
    const button = el('button', {type: 'button', class: 'plain'}, one.task);
    button.addEventListener('click', () => open(one.t, one.m, button));
    return {one, words: (one.task + ' ' + one.name + ' ' + one.outcome).toLowerCase(), node: el('tr', {}, el('th', {scope: 'row'}, button),
      ...columns.slice(1).map(({value, text, falls}) => el('td', {class: falls ? null : 'text'}, (text || value)(one))))};
  });
  const body = el('tbody'), find = el('input', {type: 'search', placeholder: 'name of a task, outcome …', 'aria-label': 'find'}), count = el('span', {role: 'status'});
  const select = (label, options) => ({options, node: el('select', {'aria-label': label}, ...options.map(([text], i) => el('option', {value: i}, text)))});
  const oneOf = (label, text, key) => select(label, [['every ' + label, () => true], ...[...new Set(candidates.map(key))].map(value => [text(value), one => key(one) === value])]);
  const selects = [oneOf('level', levelName, one => one.level), oneOf(data.of, m => data.models[m].name, one => one.m),
    select('outcome', [['every outcome', () => true], ['faster than the baseline', one => one.worth && one.worth.point > 1], ['surely faster', one => one.worth && one.worth.low > 1],
      ['correct', one => one.worth], ['not correct', one => !one.worth]])].filter(each => each.options.length > 2);
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/), shown = rows.filter(({one, words: own, node}) => !(node.hidden =
      !words.every(word => own.includes(word)) || !selects.every(each => each.options[each.node.value][1](one))));
    count.textContent = shown.length + ' of ' + rows.length;
  };
  const sort = ({value}, falls) => {
    const order = (a, b) => known(a) && known(b) ? (a < b ? -1 : a > b ? 1 : 0) * (falls ? -1 : 1) : known(b) - known(a);  // what is not known comes last
    body.append(...rows.sort((a, b) => order(value(a.one), value(b.one)) || a.one.t - b.one.t).map(row => row.node));
  };
  const heads = columns.map((column, i) => {
    const button = el('button', {type: 'button', class: 'plain'}, column.head), head = el('th', {scope: 'col', class: column.falls ? null : 'text', 'aria-sort': i ? null : 'ascending'}, button);
    button.addEventListener('click', () => {
      const was = head.getAttribute('aria-sort'), falls = was ? was === 'ascending' : !!column.falls;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', falls ? 'descending' : 'ascending');
      sort(column, falls);
    });
    return head;
  });
  for (const node of [find, ...selects.map(each => each.node)]) node.addEventListener('input', filter);
  sort(columns[0], false);
  filter();
  byId('tasks').append(el('div', {class: 'filters'}, find, ...selects.map(each => each.node), count),
    el('div', {class: 'scroll tall', tabindex: 0, role: 'region', 'aria-labelledby': 'h-tasks'}, el('table', {class: 'numbers'}, el('thead', {}, el('tr', {}, ...heads)), body)),
    el('p', {class: 'note'}, 'The best candidate of each ' + data.of + ', or how far it came where none is correct. A task’s name opens what stands behind it, as does a mark in the figures.' + (shares ? ' Of the roof: its share of the device’s own rate of copying or of arithmetic, the larger of the two.' : '')));
}

// --- the grid ------------------------------------------------------------------------------------
function shade(speedup) {
  return 'f' + (speedup < .5 ? 0 : speedup < .95 ? 1 : speedup < 1.05 ? 2 : speedup < 1.5 ? 3 : speedup < 2.5 ? 4 : 5);
}
function cellLabel(task, model, cell) {
  let text = task[0] + ' ' + plain(task[1]) + ', ' + model.name + ': ';
  if (cell.mark === undefined) return text + 'no answer';
  if (!cell.speedup) return text + plain(markOf(cell.mark).name) + ', none of ' + plural(cell.n + cell.lost, 'sample') + ' correct';
  text += 'correct in ' + cell.c + ' of ' + plural(cell.n + cell.lost, 'sample') + ', best ' + speedText(cell.speedup.point) + ' times the baseline’s speed';
  if (cell.confirmed) text += worthOf(cell) ? ', ' + speedText(cell.confirmed.point) + ' when measured again' : ', which did not pass again';
  return text;
}
const cellOf = (task, model) => data.cells[model * data.tasks.length + task];
const grid = [];  // per task of the order shown: its cells
function cellNode(t, m, row) {
  const cell = cellOf(t, m), task = data.tasks[t], model = data.models[m];
  const label = cellLabel(task, model, cell);
  const node = el('td', {role: 'gridcell', tabindex: -1, title: label, 'aria-label': label});
  if (worthOf(cell)) {
    const value = worthOf(cell).point;
    node.className = 'c ' + shade(value);
    node.append(speedText(value));
    if (cell.confirmed) node.append(el('sup', {}, '✓'));
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
    byId('grids').append(el('h3', {}, levelName(level) + ', ' + plural(tasks.length, 'task')));
    const box = el('div', {class: 'chunks'});
    for (let begin = 0; begin < tasks.length; begin += size) {
      const own = tasks.slice(begin, begin + size);
      const table = el('table', {class: 'grid', role: 'grid', 'aria-label': levelName(level) + ', tasks ' + data.tasks[own[0]][0] + ' to ' + data.tasks[own[own.length - 1]][0]});
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
  if (data.cells.some(cell => cell.speedup && !worthOf(cell))) box.append(item('bad', 'again', 'did not pass again'));
  const several = data.cells.some(cell => cell.n + cell.lost > 1);
  byId('grid-note').textContent = 'The number is the best candidate’s speed over the baseline’s' +
    (data.cells.some(cell => cell.confirmed) ? ', ✓ as measured again with a fresh seed' : '') + '; a word is how far the ' + data.of + '’s answers came.' +
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
    ['least bytes over time', m.gbytes_per_s > 0 ? significant(m.gbytes_per_s) + ' GB/s' : null], ['FLOPs over time', m.tflops > 0 ? significant(m.tflops) + ' TFLOP/s' : null], ['of the roof', shareText(shareOf(m), '')],
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
  if (cell.speedup) body.append(facts([['best speedup', speedupText(cell.speedup).join('  ')], ['measured again', cell.confirmed ? speedupText(cell.confirmed).join('  ') : null]]));
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
  byId('charts').append(...[...kCharts.map(chart), roofline()].filter(Boolean));
  byId('h-grid').textContent = 'Every task by every ' + data.of;
  if (correct.length) byId('speedups').append(speedups()); else byId('speedups').remove();
  taskTable();
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
