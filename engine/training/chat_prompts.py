"""What people say to an assistant, composed from templates and lists of our own. Knows no model and no token."""

from __future__ import annotations

import random
import re

_IDEAS = tuple(
    "photosynthesis; gravity; inflation; the water cycle; evolution; democracy; electricity; vaccines; tides; volcanoes; the seasons;"
    " rainbows; magnetism; sleep; memory; friction; the food chain; recycling; supply and demand; compound interest; the immune"
    " system; earthquakes; black holes; the internet; encryption; wind power; fermentation; clouds; sound waves; the speed of light;"
    " antibiotics; DNA; glaciers; metabolism; the ozone layer; a heat pump; probability; the Pythagorean theorem; prime numbers; an"
    " algorithm; statistics; stock markets; insurance; a budget; the printing press; the Renaissance; the Silk Road; the industrial"
    " revolution; perspective in painting; a sonnet; jazz; chess openings; meditation; stretching; a balanced diet; baking bread;"
    " composting; bird migration; coral reefs; solar panels; a compass; time zones; leap years; the metric system; typography;"
    " shorthand; a thermostat; a telescope".split("; ")
)
_CONCEPTS = tuple(
    "recursion; a hash table; a linked list; a binary search; a stack; a queue; a race condition; a deadlock; garbage collection; a"
    " closure; a decorator; an iterator; a generator; a pointer; a reference; a mutex; an index in a database; a foreign key; a"
    " transaction; a REST API; an HTTP status code; a cookie; a session; caching; memoization; big O notation; dynamic programming; a"
    " binary tree; a heap; a graph; breadth-first search; depth-first search; unit testing; mocking; continuous integration; a merge"
    " conflict; a pull request; a branch in git; a container; a virtual machine; an environment variable; a regular expression; JSON;"
    " YAML; XML; Unicode; UTF-8; a float; integer overflow; immutability; polymorphism; inheritance; composition; an interface; an"
    " abstract class; dependency injection; a singleton; an observer; an event loop; async and await; a promise; a callback; a thread;"
    " a process; a socket; a port; DNS; TLS; a firewall; a load balancer; type inference; generics; an enum; a lambda; list"
    " comprehension; string formatting; exception handling; logging; a linter; a debugger; a compiler; an interpreter; a package"
    " manager; semantic versioning; a lock file; a build script; refactoring; code review".split("; ")
)
_TOOLS = tuple(
    "git rebase; git stash; git bisect; grep; curl; ssh; make; docker run; chmod; cron; tar; sed; rsync; npm; pip; cargo; tail -f;"
    " diff".split("; ")
)
_LANGUAGES = ("Python", "Python", "Python", "JavaScript", "TypeScript", "Go", "Rust", "Java", "C", "C++", "Lua", "Bash")
_FUNCTIONS = tuple(
    "reverses a string; counts the words in a text; returns the largest number of a list; checks whether a number is even; adds up a"
    " list; removes duplicates from a list; converts Celsius to Fahrenheit; counts the vowels in a string; checks for a palindrome;"
    " squares a number; computes the factorial of a number; returns the first n Fibonacci numbers; merges two sorted lists; flattens a"
    " nested list; reads a file and returns its lines; writes a string to a file; joins a list of strings with commas; splits a string"
    " at spaces; capitalizes each word; returns the average of a list; finds the index of an item; filters out negative numbers; swaps"
    " two values; formats a date; parses a number from a string; counts how often each item occurs; sorts a list of words by length;"
    " picks a random item; returns the last item of a list; checks whether a year is a leap year; clamps a number between two bounds;"
    " repeats a string n times; greets a person by name; computes the area of a circle; rounds a number to two digits; generates a"
    " range of numbers".split("; ")
)
_HOW = tuple(
    "read a file line by line; sort a list; loop over a map; handle an error; parse JSON; make an HTTP request; write a unit test;"
    " format a string; define a class or struct; copy an array; concatenate strings; get the current time; read an environment"
    " variable; check if a key exists; declare a constant; write a comment; import a module; round a number; measure how long"
    " something takes; exit with an error code".split("; ")
)
_PAIRS = tuple(
    "a list and a tuple; a stack and a queue; a process and a thread; a compiler and an interpreter; HTTP and HTTPS; TCP and UDP; SQL"
    " and NoSQL; an array and a linked list; a class and an object; a parameter and an argument; git merge and git rebase; a library"
    " and a framework; authentication and authorization; weather and climate; a virus and a bacterium; speed and velocity; mass and"
    " weight; affect and effect; RAM and a hard disk; a frog and a toad; tea and coffee; a lake and a pond; a salad and a soup; an"
    " essay and a report".split("; ")
)
_SENTENCES = tuple(
    "Send me the report now.; I can't come tomorrow because I'm sick.; The meeting was long and nothing got decided.; We was late to"
    " the train.; The software don't work on my computer.; Give me your feedback by Friday.; This idea is bad.; I want a refund.; The"
    " food was okay I guess.; He go to school every day by the bus.; Your invoice is late again.; You need to fix this bug today.; I"
    " have no idea what you mean.; The plan is good but it costs too much money.; The weather is nice so we will go outside and have a"
    " walk in the park.; Stop calling me.; Our team made the project done in time.; The results was not what we expected.; There is"
    " many reasons for this.; I forgot the password.; Please be informed that the office is closed on Monday.; Me and him wrote the"
    " code together.; The dog barked loudly at the mailman.; It is what it is and we have to live with it.; The new version is faster,"
    " smaller and it has less bugs.; Can you do this?".split("; ")
)
_MANNERS = tuple("more polite; shorter; more formal; friendlier; clearer; in the past tense; in simpler words; more confident".split("; "))
_LISTS = tuple(
    "vegetables; European capitals; musical instruments; programming languages; healthy breakfasts; team sports; farm animals; board"
    " games; uses for a paper clip; indoor plants; good habits; books for beginners in programming; renewable sources of energy; names"
    " for a cat; things to pack for a hike; ways to save water; ways to save money; questions for a job interview; ideas for a"
    " birthday party; Linux commands; HTTP methods; data types; design patterns; editors for code; test frameworks; sorting"
    " algorithms; kinds of tea; spices; planets; trees; hobbies; warm-up exercises; topics for small talk; reasons to learn a"
    " language; kinds of bread".split("; ")
)
_SMALL_TALK = tuple(
    "Hi!; Hello there.; Good morning!; How are you today?; Hey, what's up?; Thank you for your help.; Thanks!; Goodbye!; See you"
    " tomorrow.; I had a long day.; I'm bored.; Tell me a joke.; Tell me something interesting.; Can you help me with something?; What"
    " can you do?; I'm nervous about my exam.; I just finished my first program!; Good night.; It's raining again.; I need some"
    " motivation.; What should I cook tonight?; Do you like music?; My code doesn't work.; I can't decide what to read.; Recommend a"
    " hobby.; I made a mistake at work.; Happy new year!; I'm learning to program.; I have a headache.; How do I start a"
    " conversation?; What's a good name for a project?; Wish me luck!".split("; ")
)
_ADVICE = tuple(
    "learning a new language; sleeping better; staying focused; writing clear emails; public speaking; naming variables; debugging a"
    " program; writing commit messages; keeping a desk tidy; learning to cook; preparing for an interview; working from home; reading"
    " more books; reviewing code; learning Python; organizing files; saving money; running a first 5k; taking notes; staying calm;"
    " writing documentation; estimating a task; making new friends; growing tomatoes; choosing a password; giving feedback; planning a"
    " trip; drawing".split("; ")
)
_FOLLOW_UPS = (
    "Can you give an example?", "Make it shorter.", "Why is that?", "Explain it to a child.", "Thanks! Anything else I should know?",
    "Can you say that in one sentence?", "What is the most important point?", "I don't understand. Can you explain it differently?",
    "Give me one more.", "What would be a common mistake?", "Is that always true?", "Thank you!",
)  # fmt: skip
_TALK = "{talk}"
_TEMPLATES: tuple[tuple[float, str], ...] = (
    (3, "Explain {idea} in two sentences."), (3, "Explain {idea} in simple words."), (2, "How does {idea} work? Keep it short."),
    (2, "Why is it good to know about {idea}?"), (1, "Write a short paragraph about {idea}."), (1, "Tell me one fact about {idea}."),
    (4, "What is {concept}?"), (4, "Explain {concept} in two or three sentences."), (2, "When would I use {concept}?"),
    (2, "What is {concept} in {language}? Be brief."), (2, "What does {tool} do?"), (1, "Give me an example of how to use {tool}."),
    (6, "Write a {language} function that {function}."), (2, "Write a {language} function that {function}. Only show the code."),
    (2, "Show me a short {language} function that {function} and explain it in one sentence."), (4, "How do I {how} in {language}?"),
    (2, "Show me how to {how} in {language}."), (3, "What is the difference between {pair}?"), (1, "Compare {pair} in two sentences."),
    (5, "Rewrite this sentence so that it is {manner}: {sentence}"), (2, "Make this {manner}: {sentence}"),
    (2, "Correct the grammar: {sentence}"),
    (3, "List five {things}."), (1, "Name three {things}."), (1, "Give me a numbered list of four {things}."),
    (4, _TALK), (3, "Give me three tips for {advice}."), (1, "What is the best way to get better at {advice}? Answer briefly."),
    (1, "I have trouble with {advice}. What should I do?"),
)  # fmt: skip
_FIELDS = {
    "idea": _IDEAS, "concept": _CONCEPTS, "tool": _TOOLS, "language": _LANGUAGES, "function": _FUNCTIONS, "how": _HOW, "pair": _PAIRS,
    "sentence": _SENTENCES, "manner": _MANNERS, "things": _LISTS, "talk": _SMALL_TALK, "advice": _ADVICE,
}  # fmt: skip
_FIELD = re.compile(r"\{(\w+)\}")
_TWO_TURNS = 0.2


def prompts(count: int, seed: int) -> list[tuple[str, ...]]:
    """What the user says in `count` conversations, one or two turns each, no two alike."""
    rng = random.Random(f"chat/{seed}")
    found: dict[tuple[str, ...], None] = {}
    while len(found) < count:
        words = rng.choices([text for _, text in _TEMPLATES], weights=[share for share, _ in _TEMPLATES])[0]
        first = _FIELD.sub(lambda field: rng.choice(_FIELDS[field[1]]), words)
        goes_on = words != _TALK and rng.random() < _TWO_TURNS
        found[(first, rng.choice(_FOLLOW_UPS)) if goes_on else (first,)] = None
    return list(found)
