/** How Vite builds the browser part of the dashboard, gateway/dashboard/ui, into static files with hashed names. */
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const root = join(import.meta.dirname, "../gateway/dashboard/ui");
const base = "/dashboard/";

/**
 * Sets light or dark before the first paint. The Content-Security-Policy allows no inline script, and a module runs
 * only after the page is parsed, so this is a small classic script of its own.
 */
function themeScript(): Plugin {
  let fileName = "";
  return {
    name: "daybook:theme-script",
    apply: "build",
    async buildStart() {
      const source = await readFile(join(root, "theme.js"), "utf8");
      const hash = createHash("sha256").update(source).digest("base64url").slice(0, 8);
      fileName = `assets/theme-${hash}.js`;
      this.emitFile({ type: "asset", fileName, source });
    },
    transformIndexHtml: () => [{ tag: "script", attrs: { src: base + fileName }, injectTo: "head-prepend" }],
  };
}

/** Writes .br and .gz beside each file, so that the gateway compresses nothing while it answers. */
function compressed(): Plugin {
  return {
    name: "daybook:compressed",
    apply: "build",
    async writeBundle({ dir = "" }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile() && /\.(?:html|js|css|svg|json)$/.test(entry.name));
      await Promise.all(
        files.map(async (entry) => {
          const path = join(entry.parentPath, entry.name);
          const bytes = await readFile(path);
          const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
          await Promise.all([
            promisify(brotliCompress)(bytes, { params }).then((small) => writeFile(`${path}.br`, small)),
            promisify(gzip)(bytes, { level: 9 }).then((small) => writeFile(`${path}.gz`, small)),
          ]);
        }),
      );
    },
  };
}

export default defineConfig({
  root,
  base,
  publicDir: false,
  plugins: [react(), themeScript(), compressed()],
  build: {
    outDir: process.env.UI_OUT ?? "dist",
    emptyOutDir: true,
    // Browsers of the last two years.
    target: "baseline-widely-available",
    manifest: "manifest.json",
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // How long plugins took is no matter of who starts Daybook.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
