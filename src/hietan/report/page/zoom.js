// Moving by pointer, zooming by buttons, pinch, or the wheel with Ctrl; the first view shows as much as is readable.
const SMALLEST_SCALE = 0.3;
const LARGEST_SCALE = 30;
const ZOOM_STEP = 1.4;

// `arrange(width, height)` places what is in the world and returns its offset; `onscale` gets every new scale.
class ZoomableView {
  constructor(picture, world, arrange, onscale) {
    Object.assign(this, { picture, world, arrange, onscale });
    this.scale = 1;
    this.offset = [0, 0];
    this.pointers = new Map();
    this.followPointers();
    this.followWheel();
    let width = 0;
    new ResizeObserver(() => {
      const now = this.bounds().width;
      if (!now || now === width) return;
      width = now;
      this.fit();
    }).observe(picture);
  }

  bounds() {
    return this.picture.getBoundingClientRect();
  }

  // What is steady in the world is scaled back, so that it keeps its size on the screen.
  apply() {
    const [x, y] = this.offset;
    this.world.setAttribute("transform", `translate(${x},${y}) scale(${this.scale})`);
    this.world.style.setProperty("--steady", 1 / this.scale);
  }

  fit() {
    const { width, height } = this.bounds();
    if (!width) return;
    this.scale = 1;
    this.offset = this.arrange(width, height);
    this.apply();
    this.onscale(this.scale);
  }

  // The point `centre` stays where it is on the screen; without one, the middle does.
  zoom(factor, centre) {
    const { width, height } = this.bounds();
    const fixed = centre || [width / 2, height / 2];
    const next = Math.min(LARGEST_SCALE, Math.max(SMALLEST_SCALE, this.scale * factor));
    this.offset = this.offset.map((offset, axis) => fixed[axis] - ((fixed[axis] - offset) * next) / this.scale);
    this.scale = next;
    this.apply();
    this.onscale(this.scale);
  }

  // Moves the point into the middle if it is outside the picture or close to its border.
  reveal(x, y) {
    const { width, height } = this.bounds();
    const [left, top] = [this.offset[0] + this.scale * x, this.offset[1] + this.scale * y];
    if (left < 30 || left > width - 60) this.offset[0] = width / 2 - this.scale * x;
    if (top < 30 || top > height - 40) this.offset[1] = height / 2 - this.scale * y;
    this.apply();
  }

  followPointers() {
    const { picture, pointers } = this;
    picture.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    picture.addEventListener("pointermove", (event) => this.movePointer(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      picture.addEventListener(end, (event) => pointers.delete(event.pointerId));
    }
  }

  // One pointer moves the picture, two pinch it. A first move of less than three pixels still counts as a click.
  movePointer(event) {
    const { picture, pointers } = this;
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (!picture.hasPointerCapture(event.pointerId) && distance(before, now) < 3) return;
    picture.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, now);
    const other = [...pointers].find(([id]) => id !== event.pointerId);
    if (other) {
      this.pinch(before, now, other[1]);
    } else {
      this.offset = [this.offset[0] + now[0] - before[0], this.offset[1] + now[1] - before[1]];
      this.apply();
    }
  }

  pinch(before, now, still) {
    const { left, top } = this.bounds();
    const middle = [(now[0] + still[0]) / 2 - left, (now[1] + still[1]) / 2 - top];
    this.zoom(distance(now, still) / Math.max(1, distance(before, still)), middle);
  }

  // Without Ctrl the wheel scrolls the page, unless the picture has the focus.
  followWheel() {
    const { picture } = this;
    const onwheel = (event) => {
      if (!(event.ctrlKey || event.metaKey || picture.contains(document.activeElement))) return;
      event.preventDefault();
      const { left, top } = this.bounds();
      this.zoom(Math.exp(-event.deltaY / 300), [event.clientX - left, event.clientY - top]);
    };
    picture.addEventListener("wheel", onwheel, { passive: false });
  }
}

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
