// The files that a person chooses or drops, including those in folders. Files whose name begins with
// a dot are left out, because file managers add such files to folders.

export async function chosenFiles(list) {
  return visible([...list]);
}

export async function droppedFiles(transfer) {
  // The entries must be taken before the first wait, because the browser empties the list then.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return visible([...transfer.files]);
  const found = await Promise.all(entries.map(filesBelow));
  return visible(found.flat());
}

async function filesBelow(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  // A reader returns the entries of a folder in groups, and an empty group at the end.
  for (;;) {
    const group = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (group.length === 0) return found;
    for (const child of group) found.push(...(await filesBelow(child)));
  }
}

function visible(files) {
  return files.filter((file) => !file.name.startsWith("."));
}
