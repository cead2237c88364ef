// After the palette of Okabe and Ito, which the colour-blind can tell apart.  Its yellow and light blue are left
// out and its orange is darker: every colour stands out from white and from the dark page by 3 to 1.
const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07C00", "#7A7A7A"];

export const colour = (index) => PALETTE[index % PALETTE.length];
export const ofPage = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
