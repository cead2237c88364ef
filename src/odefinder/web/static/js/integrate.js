// Simulation on the page: the prefix program of a system, and the method of Dormand and Prince.
// It follows sliders at the speed of the screen; what it cannot do (stiff systems), the server does.

const [CONST, VAR, ADD, MUL, POW] = [0, 1, 2, 3, 4];
const RTOL = 1e-6;
const ATOL = 1e-9; // of the size of a variable
const BOUND = 1e9; // sizes: beyond, the solution has run away
const MAX_STEPS = 4000;

// The tableau; row i has the weights of the stages before it.  The last row is the fifth-order solution.
const NODES = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const STAGES = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const ERROR = [-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40];
// Weights of the stages inside a step, as polynomials of the share of the step (Shampine).
const INSIDE = [
  [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
  [0, 0, 0, 0],
  [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
  [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
  [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
  [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
  [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
];

// program: { ops, values } in prefix order, one equation after the other.  It becomes steps on registers:
// variables first, then constants and results.  What occurs several times is computed once.
export function evaluator({ ops, values }) {
  const count = 1 + values.reduce((most, value, i) => (ops[i] === VAR ? Math.max(most, value) : most), -1);
  const registers = new Array(count).fill(0);
  const steps = []; // four numbers each: opcode, operands, result
  const places = new Map();
  const place = (key, value, step) => {
    if (!places.has(key)) {
      places.set(key, registers.push(value) - 1);
      if (step) steps.push(...step, registers.length - 1);
    }
    return places.get(key);
  };
  const stack = [];
  for (let i = ops.length - 1; i >= 0; i -= 1) {
    const op = ops[i];
    if (op === CONST) stack.push(place(`${values[i]}`, values[i]));
    else if (op === VAR) stack.push(values[i]);
    else {
      const [first, second] = [stack.pop(), op <= POW ? stack.pop() : 0];
      stack.push(place(`${op} ${first} ${second}`, 0, [op, first, second]));
    }
  }
  const equations = stack.reverse();
  const memory = Float64Array.from(registers);
  const code = Int32Array.from(steps);
  return (names, out) => {
    for (let j = 0; j < count; j += 1) memory[j] = names[j];
    for (let i = 0; i < code.length; i += 4) {
      memory[code[i + 3]] = applied(code[i], memory[code[i + 1]], memory[code[i + 2]]);
    }
    for (let j = 0; j < out.length; j += 1) out[j] = memory[equations[j]];
  };
}

// A switch: with a table of functions, a simulation takes twice as long.
function applied(op, a, b) {
  switch (op) {
    case ADD: return a + b;
    case MUL: return a * b;
    case POW: return a ** b;
    case 5: return 1 / a;
    case 6: return a * a;
    case 7: return a * a * a;
    case 8: return a ** 4;
    case 9: return a ** 5;
    case 10: return Math.sin(a);
    case 11: return Math.cos(a);
    case 12: return Math.tan(a);
    case 13: return Math.exp(a);
    case 14: return Math.log(a);
    case 15: return Math.sqrt(a);
    case 16: return Math.abs(a);
    default: return Math.tanh(a);
  }
}

// The same program with the values of sliders: `owners` says which of them each number follows, or -1.
export function withConstants({ ops, values }, { owners, signs }, constants) {
  let k = -1;
  const number = (value) => {
    k += 1;
    return owners[k] < 0 ? value : signs[k] * constants[owners[k]];
  };
  return { ops, values: values.map((value, i) => (ops[i] === CONST ? number(value) : value)) };
}

// The same signals with another value in some columns, such as a constant that differs between trajectories.
export function withColumns({ before, after, ...rest }, columns) {
  const set = (row) => {
    const copy = [...row];
    columns.forEach(({ column, value }) => { copy[column] = value; });
    return copy;
  };
  return { ...rest, before: before.map(set), after: after.map(set) };
}

// Known signals, linear between knots, where they may jump.  time: the column that is the time itself, or -1.
export class Signals {
  constructor({ knots, before, after, doses }, factors, time) {
    Object.assign(this, { knots, before, after, doses, factors, time });
    this.count = before[0]?.length ?? 0;
    this.stops = knots.filter((_, k) => this.isStop(k));
  }

  // Where the integrator must stop: a jump, a bend, or a dose.
  isStop(k) {
    if (this.doses[k]?.some((amount) => amount !== 0)) return true;
    for (let j = 0; j < this.count; j += 1) {
      if (j === this.time) continue;
      if (this.before[k][j] !== this.after[k][j] || this.slope(k - 1, j) !== this.slope(k, j)) return true;
    }
    return false;
  }

  slope(k, j) {
    if (k < 0 || k + 1 >= this.knots.length) return 0;
    return (this.before[k + 1][j] - this.after[k][j]) / (this.knots[k + 1] - this.knots[k]);
  }

  // Values at a time into `names` from `first` on; `step` is the beginning of the step, which tells the sides
  // of a jump apart.
  at(time, step, names, first) {
    let low = 0;
    let high = this.knots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.knots[middle] <= step) low = middle + 1;
      else high = middle;
    }
    for (let j = 0; j < this.count; j += 1) {
      let value = time;
      if (j !== this.time) {
        value = low === 0 ? this.before[0][j] : this.after[low - 1][j] + this.slope(low - 1, j) * (time - this.knots[low - 1]);
        if (j < this.factors.length - 1) value *= this.factors[j]; // the last one is that of the doses
      }
      names[first + j] = value;
    }
  }

  dose(time) {
    const k = this.doses.length ? this.knots.indexOf(time) : -1;
    return k < 0 || !this.doses[k].length ? null : this.doses[k].map((amount) => amount * this.factors.at(-1));
  }
}

// The states, by variable, at increasing times from `start` at the first one; null from where there are none.
// derivative: an evaluator.  sizes: of the variables.
// Returns { states, status }: "ok", "ran away" or "too hard" (ask the server then).
export function integrate(derivative, start, times, signals, sizes) {
  const dimension = start.length;
  const names = new Float64Array(dimension + signals.count);
  const slope = (time, step, y, out) => {
    names.set(y);
    signals.at(time, step, names, dimension);
    derivative(names, out);
  };
  const k = NODES.map(() => new Float64Array(dimension));
  const trial = new Float64Array(dimension);
  const values = new Float64Array(dimension);
  const states = sizes.map(() => new Array(times.length).fill(null));
  const end = times.at(-1);
  const stops = [...signals.stops.filter((time) => time > times[0] && time < end), end];
  let y = Float64Array.from(start);
  let t = times[0];
  let row = 0;
  const keep = (now) => { states.forEach((column, j) => { column[row] = now[j]; }); row += 1; };
  const add = (amounts) => amounts?.forEach((amount, j) => { y[j] += amount; });
  keep(y);
  add(signals.dose(t));
  slope(t, t, y, k[0]);
  let h = firstStep(y, k[0], sizes, end - t);
  let steps = 0;
  for (const stop of stops) {
    while (t < stop) {
      if (steps >= MAX_STEPS || h < 1e-13 * (end - times[0])) return { states, status: "too hard" };
      steps += 1;
      const last = t + 1.0001 * h >= stop; // no tiny step is left over
      const size = last ? stop - t : h;
      for (let s = 1; s < 7; s += 1) {
        for (let j = 0; j < dimension; j += 1) {
          let sum = 0;
          for (let i = 0; i < s; i += 1) sum += STAGES[s][i] * k[i][j];
          trial[j] = y[j] + size * sum;
        }
        slope(t + NODES[s] * size, t, trial, k[s]);
      }
      const error = norm(k, y, trial, sizes, size);
      if (!(error <= 1)) {
        h = size * Math.max(0.2, 0.9 * (Number.isFinite(error) ? error : 1e9) ** -0.2);
        continue;
      }
      const next = last ? stop : t + size;
      while (row < times.length && times[row] <= next) keep(inside(k, y, size, (times[row] - t) / size, values));
      y.set(trial);
      t = next;
      const largest = size * Math.min(5, 0.9 * Math.max(error, 1e-10) ** -0.2);
      h = last ? Math.max(h, largest) : largest;
      if (y.some((value, j) => Math.abs(value) > BOUND * sizes[j])) return { states, status: "ran away" };
      k[0].set(k[6]);
    }
    if (stop < end) {
      add(signals.dose(t));
      slope(t, t, y, k[0]);
    }
  }
  return { states, status: "ok" };
}

function firstStep(y, slope, sizes, duration) {
  let fastest = 0;
  slope.forEach((value, j) => { fastest = Math.max(fastest, Math.abs(value) / (Math.abs(y[j]) + sizes[j])); });
  return Math.min(duration / 10, fastest > 0 ? 0.01 / fastest : duration / 10) || duration / 1000;
}

function norm(k, y, trial, sizes, h) {
  let sum = 0;
  for (let j = 0; j < y.length; j += 1) {
    let error = 0;
    for (let i = 0; i < 7; i += 1) error += ERROR[i] * k[i][j];
    sum += ((h * error) / (RTOL * Math.max(Math.abs(y[j]), Math.abs(trial[j])) + ATOL * sizes[j])) ** 2;
  }
  return Math.sqrt(sum / y.length);
}

function inside(k, y, h, share, values) {
  values.set(y);
  for (let i = 0; i < 7; i += 1) {
    const a = INSIDE[i];
    const weight = h * share * (a[0] + share * (a[1] + share * (a[2] + share * a[3])));
    for (let j = 0; j < y.length; j += 1) values[j] += weight * k[i][j];
  }
  return values;
}
