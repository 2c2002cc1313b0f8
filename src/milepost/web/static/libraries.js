// What the page is written with, under one name: the folder vendor/ is made by `make web`.
import htm from './vendor/htm.js';
import {Fragment, h, render} from './vendor/preact.js';

export {useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState} from './vendor/hooks.js';
export {batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect} from './vendor/signals.js';
export {Fragment, h, render};

export const html = htm.bind(h);
