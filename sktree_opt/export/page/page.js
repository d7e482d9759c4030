"use strict";
// The tree as data, and a row: numbers, positions of categories, null where a value is missing.
const tree = JSON.parse(document.getElementById("data").textContent);
const values = {};
const kept = new Set();
const find = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const percent = (share) => `${Number((100 * share).toPrecision(3))}%`;
const number = (value) =>
  String(Number.isInteger(value) ? value : Number(value.toPrecision(tree.precision)));

// Times are seconds; texts of them have no more than is not zero.
const DAY = 86400;
function timeText(seconds, kind) {
  if (kind === "timedelta") {
    const days = Math.floor(seconds / DAY), rest = seconds - days * DAY;
    const clock = new Date(Math.round(rest * 1000)).toISOString().slice(11, 19).replace(/^0|:00$/g, "");
    const text = `${days} day${days === 1 ? "" : "s"}`;
    return rest === 0 ? text : days === 0 ? clock : `${text} ${clock}`;
  }
  const text = new Date(Math.round(seconds * 1000)).toISOString().replace("T", " ").replace("Z", "");
  const short = text.replace(/\.000$/, "").replace(/:00$/, "").replace(/ 00:00$/, "");
  return kind === "datetime_utc" ? `${short}+00:00` : short;
}

// What timeText writes, as seconds; NaN for anything else.
function readTime(text, kind) {
  if (kind === "timedelta") {
    const parts = /^(?:(-?\d+) days?)? ?(?:(\d+):(\d\d)(?::(\d\d))?)?$/.exec(text);
    if (!parts || text === "") return NaN;
    const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
    return days * DAY + hours * 3600 + minutes * 60 + seconds;
  }
  const iso = text.replace(" ", "T"), hasZone = /T.*(Z|[+-]\d\d(:?\d\d)?)$/i.test(iso);
  return Date.parse(iso.includes("T") && !hasZone ? `${iso}Z` : iso) / 1000;
}

// A number of a column as people write it, and back.
const numberText = (feature, value) => {
  const kind = tree.columns[feature].time;
  return kind ? timeText(value, kind) : number(value);
};
const readNumber = (feature, text) => {
  const kind = tree.columns[feature].time;
  return kind ? readTime(text, kind) : Number(text.replace(",", "."));
};
const listed = (parts) =>
  parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` : parts.join("");

// ---------------------------------------------------------------- the answer for a row

// The branch of a value at a test; -1 where the row goes down all branches.
function branchOf(node, value) {
  if (value === null) return node.missing;
  if (node.groups) return node.groups.findIndex((codes) => codes.includes(value));
  return node.threshold === null ? 1 : Number(value > node.threshold);
}

// The leaves that a row ends in, and all nodes that it passes, each with its share.
function walk(row) {
  const leaves = [], passed = new Map(), open = [[0, 1]];
  while (open.length) {
    const [index, share] = open.pop(), node = tree.nodes[index];
    passed.set(index, share);
    if (!node.children) { leaves.push([index, share]); continue; }
    open.push(...waysOf(node, share, branchOf(node, row[node.feature])));
  }
  leaves.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return { leaves, passed };
}

function waysOf(node, share, branch) {
  if (branch >= 0) return [[node.children[branch], share]];
  return node.children.map((child, b) => [child, share * node.shares[b]])
    .filter(([, part]) => part > 0).reverse();
}

// What a leaf gives; it tells only what differs from the frequencies.
const given = (leaf, what) => tree.nodes[leaf][what] ?? tree.nodes[leaf].frequencies;

function mean(leaves, what) {
  if (leaves.length === 1) return given(leaves[0][0], what);
  return given(leaves[0][0], what).map((_, k) =>
    leaves.reduce((sum, [leaf, share]) => sum + share * given(leaf, what)[k], 0));
}

// The position of the class, or the mean.
function answerOf(leaves) {
  if (!tree.classes) return mean(leaves, "frequencies")[0];
  if (leaves.length === 1) return tree.nodes[leaves[0][0]].answer;
  const worth = mean(leaves, "worth"), enough = Math.max(...worth) - tree.tolerance;
  return worth.findIndex((w) => w >= enough);
}

const answerText = (answer) => (tree.classes ? tree.classes[answer] : number(answer));

// ---------------------------------------------------------------- the smallest change

// Known values that a branch lets through: [lower, upper] or a list of category codes.
function boxAfter(box, node, branch) {
  if (node.groups) {
    const codes = box.codes.filter((code) => node.groups[branch].includes(code));
    return codes.length ? { codes } : null;
  }
  if (node.threshold === null) return branch === 1 ? box : null;
  const lower = branch ? Math.max(box.lower, node.threshold) : box.lower;
  const upper = branch ? box.upper : Math.min(box.upper, node.threshold);
  return lower < upper ? { lower, upper } : null;
}

function isInside(value, box) {
  if (value === null) return false;
  return box.codes ? box.codes.includes(value) : box.lower < value && value <= box.upper;
}

// [number of changes, relative size]; null where the value has to stay.
function priceOf(feature, box) {
  const value = values[feature], column = tree.columns[feature];
  if (isInside(value, box)) return [0, 0];
  if (kept.has(feature)) return null;
  if (value === null || (box.codes && !column.ordered)) return [1, 1];
  if (box.codes) {
    const steps = Math.min(...box.codes.map((code) => Math.abs(code - value)));
    return [1, steps / Math.max(1, column.categories.length - 1)];
  }
  const edge = value > box.upper ? box.upper : box.lower;
  return [1, Math.abs(value - edge) / Math.max(Math.abs(value), Math.abs(edge), 5e-324)];
}

const sum = (prices) => prices.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
const isLess = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

// All ways through the tree, the cheapest branch first, without those that cost too much.
function smallestChange(isWanted) {
  let best = null;
  function run(open, boxes, prices, leaves) {
    while (open.length) {
      const [index, share] = open[open.length - 1], node = tree.nodes[index];
      open = open.slice(0, -1);
      if (!node.children) { leaves = [...leaves, [index, share]]; continue; }
      const feature = node.feature;
      if (feature in boxes && boxes[feature] === null) {
        open = [...open, ...waysOf(node, share, node.missing)];
        continue;
      }
      if (!(feature in boxes) && values[feature] === null)
        run([...open, ...waysOf(node, share, node.missing)], { ...boxes, [feature]: null }, prices, leaves);
      const categories = tree.columns[feature].categories;
      const full = categories ? { codes: [...categories.keys()] } : { lower: -Infinity, upper: Infinity };
      const ways = [];
      node.children.forEach((child, branch) => {
        const box = boxAfter(boxes[feature] || full, node, branch);
        const price = box && priceOf(feature, box);
        if (price) ways.push({ child, box, price });
      });
      ways.sort((a, b) => a.price[0] - b.price[0] || a.price[1] - b.price[1]);
      for (const { child, box, price } of ways) {
        const next = { ...prices, [feature]: price };
        if (best && !isLess(sum(Object.values(next)), best.cost)) continue;
        run([...open, [child, share]], { ...boxes, [feature]: box }, next, leaves);
      }
      return;
    }
    const cost = sum(Object.values(prices)), answer = answerOf(leaves);
    if (isWanted(answer) && (!best || isLess(cost, best.cost))) best = { cost, boxes, answer };
  }
  run([[0, 1]], {}, {}, []);
  return best;
}

// A value in a box, near the old one and short.
function nearestValue(feature, box) {
  const value = values[feature];
  if (box.codes) {
    const codes = [...box.codes];
    if (value !== null && tree.columns[feature].ordered)
      codes.sort((a, b) => Math.abs(a - value) - Math.abs(b - value) || a - b);
    return codes[0];
  }
  const isWhole = value === null || Number.isInteger(value);
  if ((value !== null && value > box.upper) || box.lower === -Infinity) {
    const edge = value === null ? Math.min(box.upper, 0) : box.upper;
    return isWhole && Math.floor(edge) > box.lower ? Math.floor(edge) : edge;
  }
  if (isWhole && Math.floor(box.lower) + 1 <= box.upper) return Math.floor(box.lower) + 1;
  for (let digits = 3; digits < 17; digits++) {
    const power = box.lower ? Math.floor(Math.log10(Math.abs(box.lower))) + 1 - digits : -digits;
    const step = 10 ** power;
    const near = Number(((Math.floor(box.lower / step) + 1) * step).toPrecision(digits));
    if (box.lower < near && near <= box.upper) return near;
  }
  return box.upper;
}

function boxText(feature, box) {
  const column = tree.columns[feature];
  if (box.codes) {
    if (box.codes.length === column.categories.length) return `${column.name} is not missing`;
    const names = [...box.codes].sort((a, b) => a - b).map((code) => column.categories[code]);
    return `${column.name} = ${listed(names).replace(/ and ([^,]*)$/, " or $1")}`;
  }
  const lower = box.lower > -Infinity ? `> ${numberText(feature, box.lower)}` : "";
  const upper = box.upper < Infinity ? `<= ${numberText(feature, box.upper)}` : "";
  return lower || upper ? `${column.name} ${[lower, upper].filter(Boolean).join(" and ")}`
    : `${column.name} is not missing`;
}

const valueText = (feature, value) =>
  value === null ? "missing" : (tree.columns[feature].categories || [])[value] ?? numberText(feature, value);

// ---------------------------------------------------------------- the drawing

function sharesBar(shares) {
  const bar = make("div", { className: "shares", "aria-hidden": "true" });
  shares.forEach((share, k) => {
    if (share > 0) {
      const part = make("span");
      part.style.cssText = `width:${100 * share}%;background:${tree.colours[k]}`;
      bar.append(part);
    }
  });
  return bar;
}

function meanBar(index) {
  const bar = make("div", { className: "shares", "aria-hidden": "true" }), part = make("span");
  part.style.cssText = `width:${100 * tree.nodes[index].position}%;background:${tree.colours[0]}`;
  bar.append(part);
  return bar;
}

function drawNode(index, branchText, level) {
  const node = tree.nodes[index];
  const item = make("li", { role: "treeitem", tabIndex: -1, "aria-level": level, id: `node-${index}` });
  item.className = node.children ? "inner" : "leaf";
  if (branchText) item.append(make("span", { className: "branch" }, branchText));
  const card = make("div", { className: "card" });
  card.append(make("strong", {}, node.children ? tree.columns[node.feature].name : node.text));
  card.append(tree.classes ? sharesBar(node.frequencies) : meanBar(index));
  card.append(make("span", { className: "counts" },
    ...node.counts.flatMap((part) => [make("span", {}, part), " "])));
  card.append(make("span", { className: "share" }));
  card.addEventListener("click", () => { focusOn(item); toggle(item); });
  item.append(card);
  if (tree.set) card.append(choicesButton(item));
  if (node.children) item.setAttribute("aria-expanded", "false");
  describe(item, branchText);
  return item;
}

function describe(item, branchText) {
  const index = indexOf(item), node = tree.nodes[index];
  const what = node.children ? `test of ${tree.columns[node.feature].name}` : `answer ${node.text}`;
  const branch = branchText ?? item.querySelector(":scope > .branch")?.textContent;
  const way = item.classList.contains("on") ? ", on the way of the row" : "";
  item.setAttribute("aria-label", `${branch ? branch + ": " : ""}${what}; ${node.counts.join(", ")}${way}`);
}

const indexOf = (item) => Number(item.id.slice(5));
const isOpen = (item) => item.getAttribute("aria-expanded") === "true";

// Side by side where that fits, a little smaller if need be; otherwise as an indented list.
let isIndented = null;
function fit() {
  const list = find("tree"), room = list.parentElement.clientWidth - 8;
  list.classList.remove("indented");
  list.style.zoom = "";
  if (room <= 0) return;
  const ratio = room / list.scrollWidth, indent = isIndented ?? ratio < 0.75;
  list.classList.toggle("indented", indent);
  if (!indent && ratio < 1) list.style.zoom = Math.max(ratio, 0.75);
  find("layout").setAttribute("aria-pressed", String(indent));
  if (tree.set) placeChoices();
}

// Nodes are made when their parent is unfolded for the first time.
function unfold(item, isLast = true) {
  const node = tree.nodes[indexOf(item)];
  if (!node.children || isOpen(item)) return;
  let group = item.querySelector(":scope > ul");
  if (!group) {
    const level = Number(item.getAttribute("aria-level")) + 1;
    group = make("ul", { role: "group" });
    node.children.forEach((child, b) => group.append(drawNode(child, node.branches[b], level)));
    item.append(group);
  }
  group.hidden = false;
  group.style.display = "";
  item.setAttribute("aria-expanded", "true");
  if (!isLast) return;
  highlight();
  fit();
}

function foldUp(item, isLast = true) {
  if (!isOpen(item)) return;
  const group = item.querySelector(":scope > ul");
  group.hidden = true;
  group.style.display = "none";
  item.setAttribute("aria-expanded", "false");
  if (isLast) fit();
  if (group.contains(document.activeElement)) focusOn(item);
}

const toggle = (item) => (isOpen(item) ? foldUp(item) : unfold(item));

function unfoldAll(limit) {
  const open = [[find("tree").firstElementChild, 0]];
  while (open.length) {
    const [item, depth] = open.pop();
    if (!item.classList.contains("inner") || depth >= limit) continue;
    unfold(item, false);
    open.push(...[...item.querySelector(":scope > ul").children].map((child) => [child, depth + 1]));
  }
  highlight();
  fit();
}

function drawTree() {
  find("tree").replaceChildren(drawNode(0, "", 1));
  current = find("tree").firstElementChild;
  current.tabIndex = 0;
  unfoldAll(tree.unfolded);
}

let current = null;
function focusOn(item) {
  if (current) current.tabIndex = -1;
  current = item;
  item.tabIndex = 0;
  item.focus();
}

function onTreeKey(event) {
  const item = event.target.closest("li");
  const shown = [...find("tree").querySelectorAll("li")].filter((li) => li.offsetParent !== null);
  const place = shown.indexOf(item), parent = item.parentElement.closest("li");
  const moves = {
    ArrowDown: () => shown[place + 1],
    ArrowUp: () => shown[place - 1],
    Home: () => shown[0],
    End: () => shown[shown.length - 1],
    ArrowRight: () => (isOpen(item) ? item.querySelector("li") : void unfold(item)),
    ArrowLeft: () => (isOpen(item) ? void foldUp(item) : parent),
    o: () => (tree.set ? void openChoices(item) : undefined),
    Enter: () => void toggle(item),
    " ": () => void toggle(item),
  };
  if (!(event.key in moves)) return;
  event.preventDefault();
  const target = moves[event.key]();
  if (target) focusOn(target);
}

let passed = new Map();
function highlight() {
  for (const item of find("tree").querySelectorAll("li")) {
    const share = passed.get(indexOf(item));
    item.classList.toggle("on", share !== undefined);
    const text = share !== undefined && share < 1 ? `${percent(share)} of the row` : "";
    item.querySelector(":scope > .card > .share").textContent = text;
    describe(item);
  }
}

// ---------------------------------------------------------------- the row

function drawForm() {
  const form = find("row");
  form.replaceChildren();
  for (const feature of tree.tested) {
    const column = tree.columns[feature], id = `field-${feature}`;
    form.append(make("label", { htmlFor: id }, column.name));
    let field;
    if (column.categories) {
      field = make("select", { id });
      field.append(make("option", { value: "" }, "(missing)"));
      column.categories.forEach((name, code) => field.append(make("option", { value: String(code) }, name)));
    } else {
      const inputMode = column.time ? "text" : "decimal";
      field = make("input", { id, type: "text", inputMode, placeholder: "(missing)" });
    }
    field.addEventListener("input", () => { readField(feature, field); choose(null); show(); });
    const keep = make("input", { type: "checkbox", id: `keep-${feature}`, title: "Keep this value" });
    keep.setAttribute("aria-label", `Keep ${column.name}`);
    keep.addEventListener("change", () => {
      if (keep.checked) kept.add(feature); else kept.delete(feature);
      showChange();
    });
    form.append(field, keep);
  }
}

function readField(feature, field) {
  const text = field.value.trim(), value = text === "" ? null : readNumber(feature, text);
  const isWrong = value !== null && !Number.isFinite(value);
  field.classList.toggle("wrong", isWrong);
  field.setAttribute("aria-invalid", String(isWrong));
  if (!isWrong) values[feature] = value;
}

function setRow(row) {
  for (const feature of tree.tested) {
    values[feature] = row[feature] ?? null;
    const field = find(`field-${feature}`);
    const isTime = tree.columns[feature].time && values[feature] !== null;
    field.value = values[feature] === null ? "" : isTime ? valueText(feature, values[feature]) : String(values[feature]);
    field.classList.remove("wrong");
    field.setAttribute("aria-invalid", "false");
  }
  show();
}

function show() {
  const found = walk(values), answer = answerOf(found.leaves);
  passed = found.passed;
  highlight();
  find("answer").textContent = `Answer: ${answerText(answer)}`;
  const proba = find("proba");
  proba.replaceChildren();
  if (tree.classes) {
    mean(found.leaves, "probabilities").forEach((share, k) => {
      const swatch = make("span", { className: "swatch" });
      swatch.style.background = tree.colours[k];
      proba.append(make("li", {}, swatch, `${tree.classes[k]} ${percent(share)}`));
    });
  }
  showReasons(found.leaves);
  showChange();
}

function showReasons(leaves) {
  const why = find("why"), main = tree.nodes[leaves[0][0]];
  const missing = tree.tested.filter((j) => values[j] === null).map((j) => tree.columns[j].name);
  find("why-intro").textContent = leaves.length === 1 ? "" :
    `The row has no value for ${listed(missing)}, so it goes down several branches.`;
  if (leaves.length > 1) {
    why.replaceChildren(...leaves.map(([leaf, share]) =>
      make("li", {}, `${percent(share)}: ${tree.nodes[leaf].text}, if ` +
        tree.nodes[leaf].rule.map(([, , text]) => text).join(" and "))));
    find("alike").textContent = "";
    return;
  }
  why.replaceChildren(...main.rule.map(([feature, text, withMissing]) => {
    const value = valueText(feature, values[feature]), name = tree.columns[feature].name;
    const isTold = text === `${name} = ${value}` || text === `${name} = "${value}"`;
    const asked = values[feature] === null ? withMissing : text;
    return make("li", {}, isTold ? asked : `${asked}; here it is ${value}`);
  }));
  if (!main.rule.length) why.append(make("li", {}, "The tree has no test."));
  find("alike").textContent = main.alike;
}

function wantedNow() {
  const answer = answerOf(walk(values).leaves), choice = find("wanted").value;
  if (choice === "higher") return (other) => other > answer;
  if (choice === "lower") return (other) => other < answer;
  return choice === "" ? (other) => other !== answer : (other) => other === Number(choice);
}

let change = null;
function showChange() {
  change = smallestChange(wantedNow());
  const parts = [];
  const changes = !change ? [] : Object.keys(change.boxes).map(Number).filter((feature) => {
    const box = change.boxes[feature];
    return box !== null && !isInside(values[feature], box);
  });
  if (!change) parts.push(make("p", {}, "No change of the other values gives this answer."));
  else if (!changes.length) parts.push(make("p", {}, "The row has this answer already."));
  else {
    parts.push(make("p", {}, `The answer would be ${answerText(change.answer)} with`));
    parts.push(make("ul", {}, ...changes.map((feature) => make("li", {},
      `${boxText(feature, change.boxes[feature])} instead of ${valueText(feature, values[feature])}`))));
  }
  find("change").replaceChildren(...parts);
  find("apply").hidden = !changes.length;
  change = changes.map((feature) => [feature, change.boxes[feature]]);
}

function applyChange() {
  const row = { ...values };
  for (const [feature, box] of change) row[feature] = nearestValue(feature, box);
  choose(null);
  setRow(row);
}

// ---------------------------------------------------------------- the table

const PAGE = 10;
let page = 0, chosen = null, shownRows = [];

// The columns of the rows; a tree of a set tests some of them.
const columnsOfRows = tree.tested;
const rowOf = (i) => Object.fromEntries(columnsOfRows.map((j, k) => [j, tree.rows[i][k]]));

function choose(i) {
  chosen = i;
  for (const line of find("table").tBodies[0].rows) {
    const isChosen = i !== null && Number(line.dataset.row) === i;
    line.classList.toggle("chosen", isChosen);
    line.querySelector("button").setAttribute("aria-pressed", String(isChosen));
  }
}

const isWrongRow = (i) => tree.classes && tree.truth && tree.truth[i] !== answers[i];
let answers = [];

function drawTable() {
  if (!tree.rows) return;
  answers = tree.rows.map((_, i) => answerText(answerOf(walk(rowOf(i)).leaves)));
  find("table-section").hidden = false;
  find("wrong-label").hidden = !(tree.classes && tree.truth);
  const isNumber = (j) => !tree.columns[j].categories;
  const titles = [["Row"], ...tree.tested.map((j) => [tree.columns[j].name, isNumber(j)]),
    ...(tree.truth ? [["True"]] : []), ["Answer"]];
  find("table").tHead.replaceChildren(make("tr", {}, ...titles.map(([title, isRight]) =>
    make("th", { scope: "col", className: isRight ? "number" : "" }, title))));
  filterRows();
}

function filterRows() {
  shownRows = [...tree.rows.keys()].filter((i) => !find("wrong").checked || isWrongRow(i));
  page = 0;
  drawPage();
}

function drawPage() {
  const pages = Math.max(1, Math.ceil(shownRows.length / PAGE));
  find("page").textContent = `${page + 1} of ${pages}`;
  find("previous").disabled = page === 0;
  find("next").disabled = page >= pages - 1;
  const lines = shownRows.slice(page * PAGE, (page + 1) * PAGE).map((i) => {
    const button = make("button", { type: "button", "aria-pressed": "false" }, String(i));
    button.setAttribute("aria-label", `Show row ${i}`);
    const pick = () => { setRow(rowOf(i)); choose(i); };
    button.addEventListener("click", pick);
    const line = make("tr", {}, make("td", {}, button));
    line.dataset.row = i;
    const row = rowOf(i);
    tree.tested.forEach((j) => {
      const value = row[j];
      line.append(make("td", { className: tree.columns[j].categories ? "" : "number" }, valueText(j, value)));
    });
    if (tree.truth) line.append(make("td", {}, String(tree.truth[i])));
    line.append(make("td", { className: isWrongRow(i) ? "differs" : "" }, answers[i]));
    return line;
  });
  find("table").tBodies[0].replaceChildren(...lines);
  choose(chosen);
}

// ---------------------------------------------------------------- start

function start() {
  find("summary").textContent = tree.summary;
  find("note").textContent = tree.note;
  (tree.classes || []).forEach((name, k) => {
    const swatch = make("span", { className: "swatch" });
    swatch.style.background = tree.colours[k];
    find("legend").append(make("li", {}, swatch, name));
  });
  if (tree.set) startSet();
  find("tree").addEventListener("keydown", onTreeKey);
  find("layout").addEventListener("click", (event) => {
    isIndented = event.target.getAttribute("aria-pressed") === "false";
    fit();
  });
  window.addEventListener("resize", fit);
  find("unfold").addEventListener("click", () => unfoldAll(Infinity));
  find("fold").addEventListener("click", () =>
    [...find("tree").querySelectorAll("li.inner")].reverse().forEach((item, k, all) => foldUp(item, k === all.length - 1)));
  const options = tree.classes ? [["", "any other answer"], ...tree.classes.map((name, k) => [String(k), name])]
    : [["higher", "a higher mean"], ["lower", "a lower mean"]];
  find("wanted").append(...options.map(([value, text]) => make("option", { value }, text)));
  find("row").addEventListener("submit", (event) => event.preventDefault());
  find("wanted").addEventListener("change", showChange);
  find("apply").addEventListener("click", applyChange);
  find("wrong").addEventListener("change", filterRows);
  find("previous").addEventListener("click", () => { page--; drawPage(); });
  find("next").addEventListener("click", () => { page++; drawPage(); });
  drawForm();
  drawTree();
  drawTable();
  setRow(tree.rows && tree.rows.length ? rowOf(0) : tree.example);
  if (tree.rows && tree.rows.length) choose(0);
}
