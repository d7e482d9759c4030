// ---------------------------------------------------------------- the trees of a set
// A node is a set of rows: [record, cost of a leaf, bound, options]. A tree takes an option there, a
// test that leads to two other nodes, or it has a leaf. Trees of one cost and number of tests are a
// class, of which only the number is kept; pairs of classes of two nodes make those of the node above.
const set = tree.set;

function addTo(classes, cost, splits, count) {
  const key = `${cost} ${splits}`, known = classes.get(key);
  if (known) known.count += count; else classes.set(key, { cost, splits, count });
}

// The options of a node that a path takes and `last` at its end, a test or null for all: the test,
// how many there are of it, and for both branches the node, the rest of the path and the classes.
function waysOfNode(at, path, last) {
  const asked = path.length ? path[0].test : last, found = [];
  for (const [first, second, ...tests] of set.nodes[at][3]) {
    const tests0 = tests.map((test) => (test < 0 ? ~test : test));
    const which = asked === null ? 0 : tests0.indexOf(asked);
    if (which < 0) continue;
    const nodes = tests[which] < 0 ? [second, first] : [first, second];
    const sides = nodes.map((node, branch) => {
      const isOn = path.length > 0 && path[0].branch === branch;
      const rest = isOn ? path.slice(1) : [], then = isOn ? last : null;
      return { node, rest, last: then, classes: classesOf(node, rest, then) };
    });
    const count = BigInt(asked === null && set.byTests ? tests.length : 1);
    found.push({ test: tests0[which], count, sides });
  }
  return found;
}

function pairsOf(at, way) {
  const [, leaf, bound] = set.nodes[at], [one, other] = way.sides, found = [];
  for (const a of one.classes.values()) {
    for (const b of other.classes.values()) {
      const sum = a.cost + b.cost, splits = a.splits + b.splits + 1;
      // A test over two leaves that does not lower the cost makes no tree of its own.
      const isIdle = splits === 1 && !set.byTests && leaf - sum < 2;
      if (isIdle || sum + set.splitCost > bound || splits > set.most) continue;
      found.push({ cost: sum + set.splitCost, splits, count: way.count * a.count * b.count, pair: [a, b] });
    }
  }
  return found;
}

// Classes of the trees of a node that ask the tests of a path, and at its end the test `last`: null
// for anything, "leaf" for a leaf.
const known = new Map();
function classesOf(at, path = [], last = null) {
  const isAll = !path.length && last === null;
  if (isAll && known.has(at)) return known.get(at);
  const classes = new Map(), [, leaf, bound] = set.nodes[at];
  if (!path.length && (isAll || last === "leaf") && leaf >= 0 && leaf <= bound) addTo(classes, leaf, 0, 1n);
  if (path.length || last !== "leaf") {
    for (const way of waysOfNode(at, path, last))
      for (const { cost, splits, count } of pairsOf(at, way)) addTo(classes, cost, splits, count);
  }
  if (isAll) known.set(at, classes);
  return classes;
}

const leastOf = (classes) => [...classes.values()].reduce((best, one) =>
  (!best || one.cost < best.cost || (one.cost === best.cost && one.splits < best.splits) ? one : best), null);
const countOf = (classes) => [...classes.values()].reduce((sum, one) => sum + one.count, 0n);
const objectiveOf = ({ cost, splits }) => Number(
  (set.offset + set.unit * (cost - splits * set.splitCost) + set.price * splits).toPrecision(10));

// The first tree of a class.
function treeOf(at, path, last, wanted) {
  const record = set.nodes[at][0];
  if (wanted.splits === 0) return { record };
  for (const way of waysOfNode(at, path, last)) {
    const found = pairsOf(at, way).find((p) => p.cost === wanted.cost && p.splits === wanted.splits);
    if (!found) continue;
    const children = way.sides.map((side, b) => treeOf(side.node, side.rest, side.last, found.pair[b]));
    return { record, test: way.test, children };
  }
}

// The nodes of a tree as the page draws them, level by level.
function nodesOf(root) {
  const open = [[root, []]];
  return [...(function* () {
    for (const [one, path] of open) {
      const node = { ...set.records[one.record], path };
      if (one.children) {
        Object.assign(node, set.tests[one.test], { test: one.test });
        if (!tree.classes) node.counts = [...node.counts, `mean ${node.text}`];
        node.children = one.children.map((child, branch) =>
          open.push([child, [...path, { test: one.test, branch }]]) - 1);
      } else node.rule = ruleOf(path);
      yield node;
    }
  })()];
}

// [feature, condition, the same with what it says of missing values]; of two thresholds on one side,
// the lower test has the stricter one.
function ruleOf(path) {
  const isImplied = (step, k) => path.slice(k + 1).some((later) => {
    const [a, b] = [set.tests[step.test], set.tests[later.test]];
    return a.feature === b.feature && step.branch === later.branch && a.threshold !== null && b.threshold !== null;
  });
  return path.filter((step, k) => !isImplied(step, k)).map(({ test, branch }) => {
    const text = textOf(test, branch);
    return [set.tests[test].feature, text.replace(/ or missing$/, ""), text];
  });
}
const textOf = (test, branch) => `${tree.columns[set.tests[test].feature].name} ${set.tests[test].branches[branch]}`;

// ---------------------------------------------------------------- the choices at a node

// What trees of the set ask after the tests of a path: the best first, and tests that part the rows
// of the node alike after the first of them.
function choicesAt(path) {
  let nodes = [0];
  for (const { test, branch } of path) {
    nodes = nodes.flatMap((at) => set.nodes[at][3].flatMap(([first, second, ...tests]) =>
      tests.flatMap((t) => (t === test ? [[first, second][branch]] : ~t === test ? [[second, first][branch]] : []))));
  }
  const groups = new Map([["leaf", ["leaf"]]]);
  for (const at of nodes) {
    for (const [, , ...signed] of set.nodes[at][3]) {
      const tests = signed.map((test) => (test < 0 ? ~test : test));
      for (const group of set.byTests ? tests.map((test) => [test]) : [tests]) groups.set(group[0], group);
    }
  }
  const found = [];
  for (const [first, group] of groups) {
    const classes = classesOf(0, path, first), best = leastOf(classes);
    if (best) found.push({ group, best, count: countOf(classes) });
  }
  return found.sort((a, b) => a.best.cost - b.best.cost || a.best.splits - b.best.splits || Number(b.count - a.count));
}

function choicesButton(item) {
  const button = make("button", { type: "button", className: "choices", tabIndex: -1 }, "Choices");
  button.setAttribute("aria-label", "Choices of the set at this node");
  button.addEventListener("click", (event) => { event.stopPropagation(); openChoices(item); });
  return button;
}

const SHOWN = 12;
let openPath = null, isLong = false;

function openChoices(item) {
  openPath = tree.nodes[indexOf(item)].path;
  isLong = false;
  drawChoices();
  find("choices").querySelector("button").focus();
}

// The index of the node at the end of a path.
const nodeAt = (path) => path.reduce((at, { branch }) => tree.nodes[at].children[branch], 0);

function closeChoices() {
  if (!openPath) return;
  const item = find(`node-${nodeAt(openPath)}`);
  openPath = null;
  drawChoices();
  if (item) focusOn(item);
}

function drawChoices() {
  const box = find("choices");
  box.hidden = openPath === null;
  for (const item of find("tree").querySelectorAll("li.asked")) item.classList.remove("asked");
  if (openPath === null) return;
  const index = nodeAt(openPath), choices = choicesAt(openPath);
  find(`node-${index}`)?.classList.add("asked");
  const above = openPath.map(({ test, branch }) => textOf(test, branch)).join(" and ");
  const total = choices.reduce((sum, choice) => sum + choice.count, 0n);
  find("choices-title").textContent = above ? `Choices after ${above}` : "Choices at the first node";
  find("choices-count").textContent =
    `${total} tree${total === 1n ? "" : "s"} of the set ${total === 1n ? "gets" : "get"} here. A choice shows the best of those that make it.`;
  const shown = isLong ? choices : choices.slice(0, SHOWN);
  find("choices-list").replaceChildren(...shown.map((choice) => choiceLine(choice, tree.nodes[index])));
  find("choices-more").hidden = shown.length === choices.length;
  find("choices-more").textContent = `Show all ${choices.length}`;
  placeChoices();
}

// Below the node, within the drawing.
function placeChoices() {
  const item = openPath && find(`node-${nodeAt(openPath)}`), box = find("choices");
  if (!item) return;
  const card = item.querySelector(":scope > .card").getBoundingClientRect();
  const room = box.offsetParent.getBoundingClientRect();
  box.style.top = `${card.bottom - room.top + 4}px`;
  box.style.left = `${Math.max(0, Math.min(card.left - room.left, room.width - box.offsetWidth))}px`;
}

function choiceLine({ group, best, count }, node) {
  const now = node.children ? node.test : "leaf";
  const buttons = group.map((test, k) => {
    const text = test === "leaf" ? "no further test" : textOf(test, 0);
    const button = make("button", { type: "button" }, text);
    button.setAttribute("aria-pressed", String(test === now));
    button.dataset.test = test;
    const same = k ? `, the same rows as ${textOf(group[0], 0)}` : "";
    button.setAttribute("aria-label",
      `${text}${same}: ${count} tree${count === 1n ? "" : "s"}, best objective ${number(objectiveOf(best))}`);
    button.addEventListener("click", () => pick(openPath, test));
    return button;
  });
  const line = make("li", {}, buttons[0],
    make("span", { className: "counts" }, `best ${number(objectiveOf(best))}, ${count} tree${count === 1n ? "" : "s"}`));
  if (buttons.length > 1) {
    const others = make("details", {}, make("summary", {}, `${buttons.length - 1} alike`), ...buttons.slice(1));
    others.open = group.indexOf(now) > 0;
    line.append(others);
  }
  return line;
}

// Shows the best tree that asks the tests of a path and then `last`.
let shownClass = null;
function takeBest(path, last) {
  shownClass = leastOf(classesOf(0, path, last));
  tree.nodes = nodesOf(treeOf(0, path, last, shownClass));
  tree.tested = columnsOfRows.filter((j) => tree.nodes.some((node) => node.children && node.feature === j));
  const best = leastOf(classesOf(0)), tests = (tree.nodes.length - 1) / 2;
  const isBest = shownClass.cost === best.cost;
  find("shown").textContent = `Shown: a tree with objective ${number(objectiveOf(shownClass))}, ${tests} ` +
    `test${tests === 1 ? "" : "s"} and ${tests + 1} lea${tests ? "ves" : "f"}${isBest ? "; none of the set is better" : ""}.`;
}

function pick(path, last) {
  takeBest(path, last);
  const row = chosen === null ? { ...tree.example, ...values } : rowOf(chosen);
  drawTree();
  drawForm();
  drawTable();
  setRow(row);
  choose(chosen);
  drawChoices();
  if (openPath) find("choices").querySelector('[aria-pressed="true"]')?.focus();
}

function startSet() {
  find("tree-title").textContent = "A tree of the set";
  find("tree-hint").append(" Choices, or O, lists what other trees of the set ask at a node.");
  const best = make("button", { type: "button", id: "best" }, "Best tree");
  best.addEventListener("click", () => { openPath = null; pick([], null); });
  find("layout").after(best);
  find("legend").before(make("p", { id: "shown", role: "status" }));
  const more = make("button", { type: "button", id: "choices-more" });
  more.addEventListener("click", () => { isLong = true; drawChoices(); });
  const close = make("button", { type: "button", id: "choices-close" }, "Close");
  close.addEventListener("click", closeChoices);
  const box = make("section", { id: "choices", hidden: true },
    make("h3", { id: "choices-title" }), make("p", { id: "choices-count", className: "hint" }),
    make("ul", { id: "choices-list" }), make("div", { className: "bar" }, more, close));
  box.setAttribute("aria-labelledby", "choices-title");
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") closeChoices(); });
  find("note").before(box);
  window.addEventListener("resize", placeChoices);
  takeBest([], null);
}
