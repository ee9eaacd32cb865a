// What pages do by themselves, where scripts run: a plan while one types, and completion of names. All works without.
"use strict";

const PAUSE = 400; // milliseconds without a key, after which a form is looked at

/** Keep the part of a page that a form is about up to date, and the address with it. */
function live(form) {
  const target = document.getElementById(form.dataset.into);
  let timer = 0;
  let asked = null;
  const now = () => new URLSearchParams(new FormData(form)).toString();
  let shown = form.dataset.into !== "plan" || target.querySelector("[data-address]") ? now() : null;

  async function look() {
    const fields = new URLSearchParams(new FormData(form));
    const said = fields.toString();
    if (said === shown) {
      target.removeAttribute("aria-busy");
      return;
    }
    if (asked) asked.abort();
    asked = new AbortController();
    const hidden = form.querySelector("input[name=form]");
    const sending = { headers: { Accept: "text/html" }, signal: asked.signal };
    let address = form.dataset.live;
    if (hidden) {
      Object.assign(sending, { method: "POST", body: new URLSearchParams([...fields, ["form", hidden.value]]) });
    } else {
      address += `?${said}`;
    }
    try {
      const reply = await fetch(address, sending);
      if (reply.redirected) {
        location.assign(reply.url); // the session has ended
        return;
      }
      const found = new DOMParser().parseFromString(await reply.text(), "text/html");
      const part = found.getElementById(target.id) || found.querySelector("main") || found.body;
      target.replaceChildren(...part.childNodes);
      const note = target.querySelector("[data-address]");
      const own = form.dataset.address;
      if (own) history.replaceState(null, "", own === "/ask" && note ? note.dataset.address : `${own}?${said}`);
      form.dispatchEvent(new CustomEvent("planned", { detail: note?.dataset.says ?? "" }));
      shown = said;
      target.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name !== "AbortError") target.textContent = "The server can’t be reached. Type on to try again.";
    }
  }

  form.addEventListener("input", () => {
    target.setAttribute("aria-busy", "true"); // what is shown isn't of what is typed
    for (const button of target.querySelectorAll("button")) button.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
  form.closest("details")?.addEventListener("toggle", look);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.repeat) return;
    const ask = target.querySelector(".ask-now button");
    const isPlanned = now() === shown && !target.hasAttribute("aria-busy");
    if (isPlanned && ask && !ask.disabled) ask.click(); // nothing is paid but for a plan that was there to be read
    else if (!isPlanned) {
      clearTimeout(timer);
      look();
    }
  });
}

/** Let the rows of a table be sorted by what a column says, up and then down. */
function sorting(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const by = (row) => row.cells[at].dataset.by;
      const isNumber = [...body.rows].every((row) => by(row) === "" || !Number.isNaN(Number(by(row))));
      const order = (one, other) => (isNumber ? Number(by(one)) - Number(by(other)) : by(one).localeCompare(by(other)));
      const rows = [...body.rows].sort((one, other) => (down ? -1 : 1) * order(one, other));
      body.append(...rows);
    });
  });
}

/** Copy a text to the clipboard, where the browser lets pages do so. */
function copying(button) {
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

/** Paint the picture that a link leads to, and keep it as PNG; it never leaves the browser. */
function painting(link) {
  link.parentElement.hidden = false;
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const image = new Image();
    image.src = link.href;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * 2;
    canvas.height = image.naturalHeight * 2;
    const paper = canvas.getContext("2d");
    paper.fillStyle = "#ffffff";
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((found) => {
      const kept = Object.assign(document.createElement("a"), { href: URL.createObjectURL(found), download: link.dataset.png });
      kept.click();
      URL.revokeObjectURL(kept.href);
    });
  });
}

/** Say what the slider stands for, and after it is planned the ± that follows; it and the amount beside rule each other out. */
function sliding(part) {
  const range = part.querySelector("input");
  const output = part.querySelector("output");
  const form = range.form;
  const amount = form.elements.namedItem("amount");
  const offers = [...form.querySelectorAll("input[name=offer]")];
  const choose = (value) => {
    for (const each of offers) each.checked = each.value === value;
  };
  const isChosen = () => !offers.length || offers.some((each) => each.checked && each.value === "exact");
  const cost = () => `${part.dataset.sign} = ${part.dataset.offers.split(" ")[range.value]}`;

  function say(half) {
    if (!isChosen()) {
      output.value = "as said below";
      return;
    }
    output.value = half ? `${half} for ${cost()}` : cost();
    range.setAttribute("aria-valuetext", output.value);
  }

  range.addEventListener("input", () => {
    choose("exact");
    if (amount) amount.value = "";
    say("");
  });
  amount?.addEventListener("input", () => {
    if (amount.value && isChosen()) choose("within");
    say("");
  });
  for (const each of offers) {
    each.addEventListener("input", () => {
      if (isChosen()) amount.value = "";
      say("");
    });
  }
  form.addEventListener("planned", (event) => say(event.detail));
  say(document.querySelector("[data-says]")?.dataset.says ?? "");
}

/** Propose names of tables, columns and functions while one types in an editor. */
function completing(editor) {
  const list = document.getElementById("completions");
  const MOST = 12;
  let words = null;
  let active = -1;

  editor.setAttribute("aria-autocomplete", "list");
  editor.setAttribute("aria-controls", list.id);

  function close() {
    list.hidden = true;
    active = -1;
    editor.removeAttribute("aria-activedescendant");
  }

  /** The part of a name that stands before the cursor. */
  function begun() {
    const before = editor.value.slice(0, editor.selectionStart);
    return /"[^"\n]*$|[\p{L}_][\p{L}\p{N}_]*$/u.exec(before)?.[0] ?? "";
  }

  /** Put the list under the cursor; the editor's letters are all as wide. */
  function place() {
    const style = getComputedStyle(editor);
    const lines = editor.value.slice(0, editor.selectionStart).split("\n");
    const height = parseFloat(style.lineHeight);
    const width = parseFloat(style.fontSize) * 0.6;
    const left = (lines.at(-1).length - begun().length) * width - editor.scrollLeft;
    list.style.top = `${Math.min(lines.length * height + 12 - editor.scrollTop, editor.offsetHeight)}px`;
    list.style.left = `${Math.max(0, Math.min(left, editor.offsetWidth - list.offsetWidth))}px`;
  }

  function select(to) {
    active = to;
    [...list.children].forEach((each, at) => each.setAttribute("aria-selected", String(at === active)));
    if (active < 0) {
      editor.removeAttribute("aria-activedescendant");
      return;
    }
    editor.setAttribute("aria-activedescendant", list.children[active].id);
    list.children[active].scrollIntoView({ block: "nearest" });
  }

  async function propose(all) {
    words ??= fetch(editor.dataset.words, { headers: { Accept: "application/json" } }).then((reply) => reply.json(), () => []);
    const known = await words;
    const start = begun().replace(/^"/, "").toLowerCase();
    if (document.activeElement !== editor || (!start && !all)) {
      close(); // who has gone on meanwhile wants no list
      return;
    }
    const bare = (word) => word.text.replace(/^"|"$/g, "").toLowerCase();
    const found = known.filter((word) => bare(word).startsWith(start) && bare(word) !== start).slice(0, MOST);
    if (!found.length) {
      close();
      return;
    }
    list.replaceChildren(
      ...found.map((word, at) => {
        const item = document.createElement("li");
        const note = document.createElement("span");
        item.id = `completion-${at}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.dataset.text = word.text;
        note.textContent = word.note;
        item.append(word.text, note);
        item.addEventListener("mousedown", (event) => {
          event.preventDefault(); // the editor keeps the focus
          take(word.text);
        });
        return item;
      }),
    );
    list.hidden = false;
    select(-1);
    place();
  }

  function take(text) {
    const end = editor.selectionStart;
    editor.setRangeText(text, end - begun().length, end, "end");
    close();
    editor.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
  }

  editor.addEventListener("input", (event) => {
    if (event.inputType === "insertReplacementText") close();
    else propose(false);
  });
  editor.addEventListener("blur", close);
  editor.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      propose(true);
    } else if (list.hidden) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const count = list.children.length;
      select((active + (event.key === "ArrowDown" ? 1 : active < 0 ? 0 : count - 1)) % count);
    } else if ((event.key === "Enter" || event.key === "Tab") && active >= 0) {
      event.preventDefault();
      take(list.children[active].dataset.text);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
}

for (const form of document.querySelectorAll("form[data-live]")) live(form);
for (const part of document.querySelectorAll(".slider")) sliding(part);
for (const table of document.querySelectorAll("table.sortable")) sorting(table);
for (const button of document.querySelectorAll("button[data-copy]")) copying(button);
for (const link of document.querySelectorAll("a[data-png]")) painting(link);
for (const editor of document.querySelectorAll("textarea[data-words]")) completing(editor);
