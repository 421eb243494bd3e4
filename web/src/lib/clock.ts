/** Calls do once what is to be done has not been asked for again for some time, in ms. */
export function calm<A extends unknown[]>(ms: number, act: (...args: A) => void): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout>;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...args), ms);
  };
}
