export { limitWindows } from './limit-windows.ts';
export { costMicroUsd, LIST_PRICES, type Price, type Prices, priceOf } from './prices.ts';
