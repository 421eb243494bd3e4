/** The part of the browser's Trusted Types that is used for the address of a script. */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): { createScriptURL: (address: string) => unknown };
}

/** Has the browser show the page while the server is away. It does so over TLS and for this machine alone. */
export async function showWhileAway() {
  if (!navigator.serviceWorker) return;
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  const address = "/worker.js";
  const trusted = policies?.createPolicy("sibyl-worker", { createScriptURL: () => address }).createScriptURL(address) ?? address;
  try {
    await navigator.serviceWorker.register(trusted as string);
    const { active } = await navigator.serviceWorker.ready;
    await import("../views/Away.svelte"); // it could not be fetched then
    active?.postMessage(performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => /\/assets\/|\/icon\.svg$/.test(new URL(name).pathname)));
  } catch {
    // The page is there as long as the server is.
  }
}
