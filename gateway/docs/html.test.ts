import { expect, test } from "vitest";
import { html, inline, prose } from "./html.ts";

test("nothing that is put in is taken for markup", () => {
  const bad = `<script>alert("1")</script> & '`;
  const escaped = "&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#39;";
  expect(html`<p title="${bad}">${bad}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  expect(html`${[bad, html`<b>${bad}</b>`]}`.text).toBe(`${escaped}<b>${escaped}</b>`);
  expect(inline(`a \`${bad}\``).text).toBe(`a <code>${escaped}</code>`);
  expect(prose(`${bad}\n\n${bad}`).text).toBe(`<p>${escaped}</p><p>${escaped}</p>`);
});

test("what is absent leaves nothing, and what is nought stays", () => {
  expect(html`${false}${undefined}${0}${""}`.text).toBe("0");
});

test("lines that are put in stay as they are, those of the template lose their indentation", () => {
  const lines = "  a\n    b";
  const made = html`<ul>
    <li>${lines}</li>
  </ul>`;
  expect(made.text).toBe(`<ul>\n<li>${lines}</li>\n</ul>`);
});
