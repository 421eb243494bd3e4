/**
 * Calls do once what is to be done has not been asked for again for some time, in ms. It is made where a component or an effect begins: with its end nothing is
 * waited for any more.
 */
export function calm<A extends unknown[]>(ms: number, act: (...args: A) => void): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout>;
  $effect(() => () => clearTimeout(timer));
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...args), ms);
  };
}
