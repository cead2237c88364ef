// The palette of Okabe and Ito, which the colour-blind can tell apart; yellow is left out, as white swallows it.
const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

export const colour = (index) => PALETTE[index % PALETTE.length];
export const ofPage = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
