// Adds interaction to the documentation pages. Every page is complete without it.
const navigation = document.querySelector("nav");
const entries = new Map(
  [...navigation.querySelectorAll('a[href^="#"]')].map((link) => [link.getAttribute("href").slice(1), link]),
);

markPlace();
addSearch();
addCopyButtons();

/** Marks the reader's current place in the contents. */
function markPlace() {
  const targets = [...entries.keys()].map((id) => document.getElementById(id)).filter((target) => target !== null);
  // A section holds its articles, so the last target above the line is the innermost.
  let scheduled = false;
  let current = null;
  const update = () => {
    scheduled = false;
    const line = window.innerHeight / 4;
    const begun = targets.filter((target) => target.getBoundingClientRect().top <= line);
    const link = begun.length > 0 ? entries.get(begun.at(-1).id) : null;
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    // Scrolls the contents, never the page.
    if (link) {
      const { top, bottom } = link.getBoundingClientRect();
      const frame = navigation.getBoundingClientRect();
      if (top < frame.top || bottom > frame.bottom) navigation.scrollTop += top - frame.top - frame.height / 3;
    }
    current = link;
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(update);
  };
  addEventListener("scroll", schedule, { passive: true });
  addEventListener("resize", schedule, { passive: true });
  update();
}

/** A search field that keeps only entries with all typed words. */
function addSearch() {
  const items = [...navigation.querySelectorAll("li")].filter((item) => !item.querySelector("ul"));
  if (items.length < 10) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Find an operation";
  field.setAttribute("aria-label", "Find an operation");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      const link = item.querySelector("a");
      const text = `${link.textContent} ${link.dataset.find ?? ""}`.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of navigation.querySelectorAll("li:has(ul)")) {
      group.hidden = words.length > 0 && group.querySelector("li:not([hidden])") === null;
    }
  });
  navigation.prepend(field);
}

/** Adds copy buttons to examples. Browsers offer a clipboard only on secure origins and localhost. */
function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const example of document.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(example, button));
    const frame = document.createElement("div");
    frame.className = "copyable";
    example.replaceWith(frame);
    frame.append(example, button);
  }
}

async function copy(example, button) {
  await navigator.clipboard.writeText(example.querySelector("code").textContent);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}
