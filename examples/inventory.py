"""A small stock book: what lies in which warehouse, and what it is worth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    sku: str
    name: str
    price_cents: int


class OutOfStock(Exception):
    """Fewer pieces are there than were asked for."""


class Warehouse:
    def __init__(self, city: str) -> None:
        self.city = city
        self._pieces: dict[Item, int] = defaultdict(int)

    def add(self, item: Item, count: int) -> None:
        if count < 1:
            raise ValueError(f"count must be positive, got {count}")
        self._pieces[item] += count

    def take(self, item: Item, count: int) -> None:
        if self._pieces[item] < count:
            raise OutOfStock(f"{item.name}: {self._pieces[item]} pieces in {self.city}, {count} asked for")
        

    def count(self, item: Item) -> int:
        return self._pieces[item]

    def value_cents(self) -> int:
        return sum(item.price_cents * count for item, count in self._pieces.items())


def total_value(warehouses: list[Warehouse]) -> int:
    return sum(warehouse.value_cents() for warehouse in warehouses)
