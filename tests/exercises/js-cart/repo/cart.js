/** What a cart costs, in cents. */
export function total(items, discounts = {}) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
    if (discounts[item.name]) sum -= discounts[item.name];
  }
  return sum;
}

export const isEmpty = (items) => items.every((item) => item.count === 0);
