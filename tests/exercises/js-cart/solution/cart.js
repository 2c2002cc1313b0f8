/** What a cart costs, in cents; discounts are percentages. */
export function total(items, discounts = {}) {
  let sum = 0;
  for (const item of items) {
    const off = Math.min(100, discounts[item.name] ?? 0);
    sum += Math.round((item.price * item.count * (100 - off)) / 100);
  }
  return sum;
}

export const isEmpty = (items) => items.every((item) => item.count === 0);
