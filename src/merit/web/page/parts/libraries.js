// The editor and the drawing library: loaded when they are first needed, from this server, and checked by their hashes.

const loading = new Map();

/** Load a script or a style of the server's; the browser refuses one with another hash. */
function load(name) {
  if (!loading.has(name)) {
    const loaded = new Promise((resolve, reject) => {
      const source = { integrity: INTEGRITY[name], crossorigin: "anonymous" };
      const element = name.endsWith(".css")
        ? h("link", { rel: "stylesheet", href: `assets/${name}`, ...source })
        : h("script", { src: `assets/${name}`, ...source });
      element.addEventListener("load", () => resolve());
      element.addEventListener("error", () => reject(new Error(`assets/${name} cannot be loaded`)));
      document.head.append(element);
    });
    loaded.catch(() => loading.delete(name));
    loading.set(name, loaded);
  }
  return loading.get(name);
}
