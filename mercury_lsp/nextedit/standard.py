"""Names that come with a language, and what brings them in. Knows no text."""

from __future__ import annotations

import builtins
import re
import sys
from types import MappingProxyType

_GO = (
    "bufio bytes context crypto/sha256 encoding/base64 encoding/hex encoding/json errors flag fmt io math math/rand net/http net/url os"
    " os/exec path/filepath reflect regexp sort strconv strings sync sync/atomic testing time unicode slices maps log"
).split()
_JAVA = {
    "java.util": "ArrayList Arrays Collection Collections Comparator Date Deque ArrayDeque HashMap HashSet Iterator LinkedHashMap"
    " LinkedList List Locale Map NoSuchElementException Objects Optional PriorityQueue Queue Random Scanner Set Stack TreeMap TreeSet UUID",
    "java.util.stream": "Collectors IntStream Stream",
    "java.util.function": "BiFunction Consumer Function Predicate Supplier",
    "java.util.concurrent": "CompletableFuture ConcurrentHashMap ExecutorService Executors TimeUnit",
    "java.io": "BufferedReader File FileReader FileWriter IOException InputStream InputStreamReader OutputStream PrintWriter",
    "java.nio.file": "Files Path Paths",
    "java.time": "Duration Instant LocalDate LocalDateTime",
}
_RUST = {
    "std::collections": "BTreeMap BTreeSet HashMap HashSet VecDeque BinaryHeap",
    "std::sync": "Arc Mutex RwLock",
    "std::rc": "Rc",
    "std::cell": "Cell RefCell",
    "std::path": "Path PathBuf",
    "std::fs": "File",
    "std::time": "Duration Instant",
}
_PYTHON = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "dataclasses": "dataclass",
    "pathlib": "Path",
    "typing": "Any Callable Iterable Iterator Optional Sequence Union",
    "functools": "lru_cache partial wraps",
    "datetime": "timedelta",
    "contextlib": "contextmanager suppress",
    "enum": "Enum IntEnum",
    "decimal": "Decimal",
    "abc": "ABC abstractmethod",
}
_C = {
    "stdio.h": "printf fprintf sprintf snprintf fopen fclose fgets fputs puts getchar putchar scanf sscanf FILE perror",
    "stdlib.h": "malloc calloc realloc free exit atoi qsort getenv abort strtol",
    "string.h": "strlen strcmp strncmp strcpy strncpy memcpy memset memmove memcmp strchr strstr strdup strtok",
    "ctype.h": "isalpha isdigit isspace isalnum toupper tolower",
    "math.h": "sqrt pow floor ceil fabs sin cos",
    "stdint.h": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t",
    "stdbool.h": "bool",
    "assert.h": "assert",
    "time.h": "time clock_gettime strftime",
    "errno.h": "errno",
}
_CPP = {
    "vector": "vector",
    "string": "string to_string",
    "map": "map",
    "unordered_map": "unordered_map",
    "set": "set",
    "memory": "unique_ptr shared_ptr make_unique make_shared",
    "iostream": "cout cerr endl",
    "algorithm": "sort find_if transform any_of all_of",
    "optional": "optional",
    "functional": "function",
    "mutex": "mutex lock_guard",
    "thread": "thread",
}


def _by_name(table: dict[str, str]) -> MappingProxyType[str, str]:
    return MappingProxyType({name: module for module, names in table.items() for name in names.split()})


# By language: the name, and the module, package or header that has it.
MEMBERS = MappingProxyType(
    {"python": _by_name(_PYTHON), "java": _by_name(_JAVA), "rust": _by_name(_RUST), "c": _by_name(_C), "cpp": _by_name(_CPP)}
)
GO_PACKAGES = MappingProxyType({path.rpartition("/")[2]: path for path in _GO})
_SCRIPT_GLOBALS = frozenset(
    "Array Boolean Date Error JSON Map Math Number Object Promise Proxy RegExp Set String Symbol WeakMap console document fetch global"
    " module process require setTimeout window undefined Buffer URL exports Record Partial Readonly Pick Omit".split()
)
_PYTHON_BUILTINS = frozenset(dir(builtins))


def is_python_module(name: str) -> bool:
    return name in sys.stdlib_module_names and not name.startswith("_")


def is_builtin(language: str, name: str) -> bool:
    """Whether a name is there without an import."""
    if language == "python":
        return name in _PYTHON_BUILTINS
    return language in ("javascript", "typescript", "tsx") and (name in _SCRIPT_GLOBALS or re.match(r"[a-z]\Z", name) is not None)
