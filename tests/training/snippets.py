"""A file in each language that tasks are made from, such as people write."""

from __future__ import annotations

PYTHON = '''\
import logging
import os
from pathlib import Path

logger = logging.getLogger(__name__)


class Inventory:
    """What a shop has on its shelves."""

    def __init__(self, folder: Path, limit: int = 100) -> None:
        """Open the inventory in `folder`, which holds one file an item.

        Never more than `limit` items are read.
        """
        self.folder = folder
        self.limit = limit

    def names(self, prefix: str) -> list[str]:
        """Return the names of all items that begin with `prefix`."""
        found = [path.stem for path in self.folder.iterdir() if path.stem.startswith(prefix)]
        return sorted(found)

    def has(self, name: str) -> bool:
        """Say whether the item called `name` is there."""
        return self._file(name) is not None

    def price(self, name: str, discount: float) -> float:
        """Return the price of an item after the discount.

        Args:
            name: The item's name.
            discount: The share of the price that is taken off.
        """
        # read the item's price from its file
        path = self._file(name)
        text = path.read_text()
        price = float(text.strip())
        if discount > 1:
            raise ValueError(f"a discount of {discount} is too much")
        logger.info("price of %s: %s", name, price)
        return price * (1 - discount)

    def _file(self, name: str) -> Path | None:
        try:
            return next(path for path in self.folder.iterdir() if path.stem == name)
        except StopIteration:
            return None


def total(values):
    result = 0
    for index, value in enumerate(values):
        if value is None:
            continue
        result += value
    return os.path.join(str(result), "eur")
'''

TYPESCRIPT = """\
import { readFile } from "fs/promises";

/**
 * Reads the names of all users from a file.
 * @param path where the file lies
 */
export async function readNames(path: string, limit: number): Promise<string[]> {
  // split the text into lines
  const text = await readFile(path, "utf8");
  const lines = text.split("\\n");
  if (lines.length === 0) {
    return [];
  }
  console.log("read some lines");
  return lines.slice(0, limit).map((line) => line.trim());
}

export class Counter {
  private count = 0;

  /** Adds a number to the count and says what it is now. */
  add(amount: number): number {
    this.count += amount;
    return this.count;
  }

  isEmpty(): boolean {
    return this.count === 0;
  }
}
"""

GO = """\
package shop

import (
\t"fmt"
\t"strings"
)

// Join puts the names together, with commas between them.
func Join(names []string, limit int) (string, error) {
\tif len(names) > limit {
\t\treturn "", fmt.Errorf("too many names: %d", len(names))
\t}
\t// join the names with a comma
\tjoined := strings.Join(names, ", ")
\treturn strings.TrimSpace(joined), nil
}
"""

RUST = """\
use std::collections::HashMap;

/// Counts how often each word occurs in a text.
pub fn count_words(text: &str, least: usize) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    // count every word of the text
    for word in text.split_whitespace() {
        *counts.entry(word.to_string()).or_insert(0) += 1;
    }
    if counts.is_empty() {
        println!("no words at all");
    }
    counts.retain(|_, count| *count >= least);
    counts
}
"""

JAVA = """\
import java.util.ArrayList;
import java.util.List;

public class Basket {
  private final List<String> items = new ArrayList<>();

  /**
   * Adds an item to the basket unless it is there already.
   */
  public boolean add(String item, int limit) {
    // refuse an item that is there already
    if (items.contains(item)) {
      return false;
    }
    items.add(item);
    return items.size() <= limit;
  }
}
"""

C = """\
#include <stdio.h>

/** Adds up the first values of an array. */
int sum(const int *values, int count) {
    int result = 0;
    // add every value to the result
    for (int i = 0; i < count; i++) {
        result += values[i];
    }
    return result;
}
"""

LUA = """\
local M = {}

--- Returns the largest value of a list of numbers.
function M.largest(values, start)
  local best = start
  -- look at every value
  for _, value in ipairs(values) do
    if value > best then
      best = value
    end
  end
  return best
end

return M
"""

SNIPPETS = {"python": PYTHON, "typescript": TYPESCRIPT, "go": GO, "rust": RUST, "java": JAVA, "c": C, "lua": LUA}
