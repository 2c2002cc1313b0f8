// Node looks for packages in NODE_PATH for `require` alone; this does it for `import`, after the usual places.
import { pathToFileURL } from "node:url";

let folders = [];

export function initialize(given) {
  folders = given;
}

export async function resolve(specifier, context, nextResolve) {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND" || /^[./]|:/.test(specifier)) throw error;
    for (const folder of folders) {
      try {
        return await nextResolve(specifier, { ...context, parentURL: pathToFileURL(`${folder}/../x.mjs`).href });
      } catch {}
    }
    throw error;
  }
}
