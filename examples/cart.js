// A shopping cart: lines of items, and what they cost together.

export class Cart {
  constructor(taxRate) {
    this.taxRate = taxRate;
    this.lines = [];
  }

  add(item, quantity) {
    this.lines.push({ item, quantity });
  }

  subtotal() {
    let sum = 0;
    for (const line of this.lines) {
      
    }
    return sum;
  }

  total() {
    return this.subtotal() * (1 + this.taxRate);
  }
}
