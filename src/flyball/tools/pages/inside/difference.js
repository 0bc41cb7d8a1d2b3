// What differs between two pictures of the same size. Read by browse.py, run in an empty page.
async ([before, after]) => {
  const pixels = async (png) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${png}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    return { canvas, context, image: context.getImageData(0, 0, canvas.width, canvas.height) };
  };
  const [old, now] = [await pixels(before), await pixels(after)];
  if (old.canvas.width !== now.canvas.width || old.canvas.height !== now.canvas.height) return { share: 1, difference: "" };
  const [a, b] = [old.image.data, now.image.data];
  // The edges of letters may come out a little differently each time; nobody would see that.
  const UNSEEN = 8;
  let changed = 0;
  for (let at = 0; at < b.length; at += 4) {
    const isChanged = [0, 1, 2].some((part) => Math.abs(a[at + part] - b[at + part]) > UNSEEN);
    changed += isChanged;
    // What stayed is a faint shade of itself, what changed stands out on light and on dark.
    const shade = 170 + (b[at] + b[at + 1] + b[at + 2]) / 12;
    [b[at], b[at + 1], b[at + 2], b[at + 3]] = isChanged ? [214, 32, 96, 255] : [shade, shade, shade, 255];
  }
  now.context.putImageData(now.image, 0, 0);
  return { share: changed / (b.length / 4), difference: now.canvas.toDataURL("image/png").split(",")[1] };
}
