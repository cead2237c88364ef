// What is slow to draw while a slider moves: with every frame where there is time, otherwise a few times a second,
// and always what was given last.

const SMOOTH = 25; // milliseconds from frame to frame: up to that, there is time for everything
const SELDOM = 100; // milliseconds

export class Pace {
  constructor() {
    this.asked = -Infinity;
    this.done = -Infinity;
  }

  draw(work) {
    const now = performance.now();
    const time = now - this.asked < SMOOTH || now - this.done > SELDOM;
    this.asked = now;
    this.stop();
    if (time) this.drawNow(work);
    else this.timer = setTimeout(() => this.drawNow(work), SELDOM);
  }

  drawNow(work) {
    this.stop();
    this.done = performance.now();
    work();
  }

  stop() {
    clearTimeout(this.timer);
  }
}
