export const shown = text => [['', text]];
export const pieces = shown;
