"""What a file defines, in each language that has such things."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from mercury_lsp.definitions import LANGUAGES, LONGEST, Definition, Source, definitions

FILES = {
    "python": (
        """
LIMIT = 3
async def fetch(url): ...
class Basket:
    size: int = 0
    def total(self): ...
    @property
    def price(self):
        inner = 1
        def nested(): ...
if LIMIT:
    def fallback(): ...
""",
        "LIMIT fetch Basket total price fallback",
    ),
    "javascript": (
        """
export default class Basket extends Base { static make(a) { function nested() {} } }
export const total = async (a) => a;
function* walk() {}
""",
        "Basket make total walk",
    ),
    "typescript": (
        """
export interface Shape { area(): number }
export type Name = string;
export enum Kind { A }
declare function outside(a: number): void;
export abstract class Base { abstract first(): void; second() {} }
namespace Inner { export function deep() {} }
""",
        "Shape area Name Kind outside Base first second Inner deep",
    ),
    "tsx": ("export function Button(props: Props) { return <b>{props.text}</b>; }\n", "Button"),
    "go": (
        """package a
type Basket struct { Size int }
type (
	Name string
	Shape interface { Area() int }
)
func Make(a int) {}
func (b *Basket) Total() int { return 1 }
const Limit = 1
""",
        "Basket Name Shape Make Total Limit",
    ),
    "rust": (
        """
pub struct Basket { size: u8 }
impl Basket { pub fn total(&self) -> u8 { 1 } }
pub trait Shape { fn area(&self); }
enum Kind { A }
mod inner { fn deep() {} }
macro_rules! shout { () => {} }
pub const LIMIT: u8 = 1;
""",
        "Basket total Shape area Kind inner deep shout LIMIT",
    ),
    "java": (
        """package a;
public class Basket<T> { int total(int a) { return 1; } static class Inner {} }
interface Shape { void area(); }
enum Kind { A; void shout() {} }
record Pair(int a) {}
""",
        "Basket total Inner Shape area Kind shout Pair",
    ),
    "c": (
        """#ifndef A_H
#define LIMIT 1
#define TWICE(x) (x + x)
struct basket { int size; };
typedef struct { int a; } pair;
typedef int (*callback)(int);
enum kind { FIRST };
struct basket *global;
int total(int a);
static char *name(void) { return 0; }
int **table(int a) { int local(int); return 0; }
#endif
""",
        "LIMIT TWICE basket pair callback kind total name table",
    ),
    "cpp": (
        """
namespace shop {
template <class T> class Basket : Base { public: void total(int a) { } int price() const; };
}
int shop::Basket::price() const { return 1; }
template <typename T> T twice(T a) { return a; }
enum class Kind { A };
std::string& text() { return q; }
""",
        "Basket total price price twice Kind text",
    ),
    "csharp": (
        """namespace Shop { public class Basket : Base { public int Size { get; set; } public void Total(int a) { } }
public interface IShape { void Area(); } enum Kind { A } record Pair(int A); delegate void Changed(); }
""",
        "Basket Size Total IShape Area Kind Pair Changed",
    ),
    "ruby": (
        """
module Shop
  class Basket < Base
    def total(a)
    end
    def self.make; end
    class << self
      def other; end
    end
  end
  class Empty < StandardError; end
end
""",
        "Shop Basket total make other Empty",
    ),
    "php": (
        """<?php
namespace Shop;
abstract class Basket { public function total($a) {} }
interface Shape { function area(); }
trait Loud { function shout() {} }
function twice($a) {}
""",
        "Basket total Shape area Loud shout twice",
    ),
    "lua": (
        """
local M = {}
function M.total(a) end
function M:price() end
local function hidden() end
M.make = function() end
local other = function() end
local plain = 1
""",
        "total price hidden make other",
    ),
    "bash": ("fetch() { echo; }\nfunction total { echo; }\n", "fetch total"),
}


def found(text: str, language: str) -> tuple[Definition, ...]:
    return definitions(Source("/p/file", "/p/file", language), text)


def test_every_language_is_tried() -> None:
    assert set(FILES) == LANGUAGES


@pytest.mark.parametrize("language", sorted(FILES))
def test_what_a_file_defines(language: str) -> None:
    text, names = FILES[language]
    assert [each.name for each in found(text, language)] == names.split()


def test_the_text_is_whole_lines_of_the_definition_alone() -> None:
    text = 'x = 1\n@cached\nclass Größe:\n    """Ä."""\n\n    def total(self):\n        return "ü"\n\n    y = 2\n\n\nz = 3\n'
    great, total = found(text, "python")
    assert great.text == 'class Größe:\n    """Ä."""\n\n    def total(self):\n        return "ü"\n\n    y = 2'
    assert total.text == '    def total(self):\n        return "ü"'


def test_a_long_one_is_cut_at_a_line() -> None:
    (long,) = found("def long():\n" + "    step()\n" * 100, "python")
    assert long.text.startswith("def long():\n    step()\n") and long.text.endswith("    step()")
    assert LONGEST - 12 < len(long.text) <= LONGEST


def test_nothing_of_other_languages_and_of_no_text() -> None:
    assert found("# Title\n", "markdown") == found("def total(): ...", "") == found("def total(): ...\0", "python") == ()


def test_names_that_say_little_are_left_out() -> None:
    assert found("def f(): ...\ndef __init__(): ...\n", "python") == ()


def test_a_pause_is_offered_all_along() -> None:
    text = "class Name:\n" + "    def method(self): ...\n" * 2_000
    pauses: list[None] = []
    definitions(Source("a", "a", "python"), text, lambda: pauses.append(None))
    assert len(pauses) > 100


def test_reading_many_files_keeps_none_of_them_in_memory() -> None:
    text = "def total(a, b):\n    return a + b\n\n" * 3_000  # 111 kB
    found(text, "python")
    tracemalloc.start()
    try:
        for _ in range(10):
            found(text, "python")
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < len(text)
