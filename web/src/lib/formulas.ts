import temml from "temml";

/** A part of what temml makes of a formula: it gives a style as one text in places, which the page's policy would refuse. */
interface Part {
  attributes?: Record<string, string>;
  style?: Record<string, string>;
  children?: Part[];
}

function styleByParts(part: Part) {
  const text = part.attributes?.["style"];
  if (text) {
    delete part.attributes!["style"];
    for (const [, name, value] of text.matchAll(/([\w-]+)\s*:\s*([^;]+)/g)) part.style = { ...part.style, [name!.replace(/-./g, (of) => of[1]!.toUpperCase())]: value! };
  }
  part.children?.forEach(styleByParts);
}

/** A formula of TeX as MathML, which browsers show by themselves; undefined if it is not understood. */
export function formula(tex: string, displayMode: boolean): Node | undefined {
  try {
    const tree = temml.__renderToMathMLTree(tex, { displayMode, annotate: true, throwOnError: true, maxSize: [50, 500] });
    styleByParts(tree);
    return tree.toNode();
  } catch {
    return undefined;
  }
}
