// Shows the page while the server is away: its shell, and those of its files that this browser has had. Nothing of the API is kept.
const kept = "sibyl";
const shell = "/";

/** The paths of the files that are kept; undefined until that is known. Whatever else is asked for is left to the browser. */
let paths;
const look = async () => (paths = new Set((await (await caches.open(kept)).keys()).map(({ url }) => new URL(url).pathname)));
void look();

addEventListener("install", (e) => e.waitUntil(caches.open(kept).then((cache) => cache.add(shell)).then(() => skipWaiting())));
addEventListener("activate", (e) => e.waitUntil(clients.claim()));

// The page tells which files it is made of; those of another version go.
addEventListener("message", (e) => e.waitUntil(keepOnly(e.data)));
async function keepOnly(files) {
  const cache = await caches.open(kept);
  const addresses = files.map((file) => new URL(file, location.origin)).filter((file) => file.origin === location.origin);
  for (const one of await cache.keys()) {
    const { pathname } = new URL(one.url);
    if (pathname !== shell && !addresses.some((file) => file.pathname === pathname)) await cache.delete(one);
  }
  for (const file of addresses) if (!(await cache.match(file))) await cache.add(file).catch(() => undefined); // without it a part is not shown
  await look();
}

addEventListener("fetch", (e) => {
  const { pathname, origin } = new URL(e.request.url);
  if (e.request.method !== "GET" || origin !== location.origin) return;
  if (e.request.mode === "navigate" && pathname === shell) e.respondWith(freshShell(e.request));
  else if (pathname !== shell && paths?.has(pathname)) e.respondWith(known(e.request));
});

/** A file that is kept, or else what the server has. */
const known = async (request) => (await fromCache(request)) ?? fetch(request);
const fromCache = async (request) => (await caches.open(kept)).match(request).catch(() => undefined);

/** The shell as the server has it. While it is away, or a proxy says so in its place, the one that is kept. */
async function freshShell(request) {
  const answer = await fetch(request).catch(() => undefined);
  if (answer?.ok && !answer.redirected) await (await caches.open(kept)).put(shell, answer.clone()).catch(() => undefined);
  if (answer && ![502, 503, 504].includes(answer.status)) return answer;
  await look();
  return (await fromCache(shell)) ?? answer ?? Response.error();
}
