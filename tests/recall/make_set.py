# ruff: noqa: E501 - tables are read line by line
"""Writes the labelled set: episodes of fictional projects, and questions of which it is known what they should find.

    python tests/recall/make_set.py

Tasks that are asked about are written by hand, each with a light rewording and with other words for the same. What
surrounds them is put together from the words of the same projects, so that it is like them: the same work in other
projects, first attempts that failed, the same kinds of errors with other names.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NEWEST = 1_790_000_000
DAY = 86_400

# project, title, text, files, a light rewording, other words for the same
TARGETS = [
    ("tidewater", "Reject overlapping berth reservations", "Two vessels must not hold one berth at the same hour.",
     "harbour/reservations.py", "Reject berth reservations that overlap", "stop double booking of a berth"),
    ("tidewater", "Send a reminder mail the day before arrival", "Use the mail queue; skip cancelled reservations.",
     "harbour/reminders.py harbour/mail.py", "Send reminder mails one day before the arrival", "notify skippers by mail ahead of their visit"),
    ("tidewater", "Compute harbour dues by vessel length and season", "Winter is half the price, tables in dues.toml.",
     "harbour/dues.py", "Compute the harbour dues from vessel length and the season", "calculate the fee a boat of some length pays in winter"),
    ("tidewater", "Export the arrivals list as CSV", "Semicolon separated, UTF-8 with a byte order mark.",
     "harbour/export.py", "Export arrivals to CSV", "download incoming ships as a spreadsheet"),
    ("tidewater", "Show tide tables in the local time zone", "Store UTC, convert at the edge.",
     "harbour/tides.py", "Show tide tables in local time", "times of high tide are displayed an hour off in summer"),
    ("larkspur", "Paginate the seed catalogue endpoint", "Cursor based, fifty entries a page.",
     "src/catalogue/list.ts", "Paginate the endpoint of the seed catalogue", "return the seed listing in pages instead of everything at once"),
    ("larkspur", "Apply discount codes at checkout", "One code an order; expired codes give a clear message.",
     "src/checkout/discount.ts", "Apply a discount code during checkout", "let customers redeem a voucher code when they pay"),
    ("larkspur", "Reserve stock while a basket is open", "Fifteen minutes, then release.",
     "src/basket/stock.ts", "Reserve stock for open baskets", "hold goods for a shopper until the cart expires"),
    ("larkspur", "Validate delivery addresses by country", "Postal code patterns in a table.",
     "src/checkout/address.ts", "Validate the delivery address for each country", "check that the postal code of the shipping destination is plausible"),
    ("larkspur", "Render germination calendar as SVG", "Twelve months, no library.",
     "src/calendar/render.ts", "Render the germination calendar to SVG", "draw a vector chart of when seeds germinate"),
    ("quillon", "Parse front matter of notes as YAML", "Only between the first two lines of dashes.",
     "quillon/frontmatter.py", "Parse YAML front matter in notes", "read the metadata header of a note"),
    ("quillon", "Resolve links between notes by title", "Case is ignored; ambiguous ones are reported.",
     "quillon/links.py", "Resolve note links by their title", "follow wiki style links to other pages"),
    ("quillon", "Rebuild the search index only for changed notes", "Compare content hashes, not times.",
     "quillon/index.py", "Rebuild the index for changed notes only", "incremental reindexing after edits"),
    ("quillon", "Write notes atomically to disk", "Temporary file in the same folder, then rename.",
     "quillon/storage.py", "Write notes to disk atomically", "a crash while saving must never leave half a document"),
    ("quillon", "Convert notes to HTML with syntax highlighting", "Fences name their language.",
     "quillon/render.py", "Convert notes into highlighted HTML", "publish pages as HTML with coloured code"),
    ("ferrite", "Debounce the push button in firmware", "Twenty milliseconds, timer based.",
     "src/input/button.rs", "Debounce push buttons in the firmware", "ignore contact bounce when a button is held"),
    ("ferrite", "Batch telemetry frames before sending", "At most 64 frames or two seconds.",
     "src/telemetry/batch.rs", "Batch telemetry frames before they are sent", "collect sensor readings and transmit them together"),
    ("ferrite", "Verify firmware image checksum before flashing", "CRC first, signature second.",
     "src/update/verify.rs", "Verify the checksum of firmware images before flashing", "do not install a corrupt firmware update"),
    ("ferrite", "Drop privileges of the gateway daemon after start", "Keep only the serial device.",
     "src/gateway/main.rs", "Drop the privileges of the gateway daemon", "the background service should not keep running as root"),
    ("ferrite", "Calibrate the temperature sensor with two points", "Ice water and boiling water, stored in flash.",
     "src/sensor/calibrate.rs", "Calibrate temperature sensors with two points", "correct the offset of the temperature reading"),
    ("mosaic", "Create thumbnails in a background worker", "Three sizes, WebP.",
     "mosaic/thumbnails.py", "Create thumbnails in background workers", "shrink pictures without blocking the upload"),
    ("mosaic", "Rotate uploaded photos by their EXIF orientation", "Strip the tag afterwards.",
     "mosaic/orientation.py", "Rotate photos by EXIF orientation when uploaded", "photos from phones appear sideways"),
    ("mosaic", "Deduplicate photos by perceptual hash", "Distance below six is the same picture.",
     "mosaic/dedupe.py", "Deduplicate photos with a perceptual hash", "find copies of the same picture"),
    ("mosaic", "Limit upload size to forty megabytes", "Answer 413 with the limit.",
     "mosaic/uploads.py", "Limit the size of uploads to forty megabytes", "refuse files that are too large"),
    ("mosaic", "Share albums by secret link with expiry", "Tokens are compared in constant time.",
     "mosaic/sharing.py", "Share an album by a secret link that expires", "give guests temporary access to an album"),
    ("parlance", "Assign incoming conversations round robin", "Agents who are away are skipped.",
     "parlance/assignment.py", "Assign incoming conversations to agents round robin", "distribute new conversations evenly over the staff"),
    ("parlance", "Redact card numbers in transcripts", "Luhn check before masking.",
     "parlance/redact.py", "Redact card numbers in a transcript", "hide payment details from stored messages"),
    ("parlance", "Retry webhook deliveries with exponential backoff", "Five tries, jitter, then dead letter.",
     "parlance/webhooks.py", "Retry webhook delivery with exponential back off", "deliver a webhook again later when the receiver is down"),
    ("parlance", "Detect the language of a message", "Fall back to the account's default.",
     "parlance/language.py", "Detect a message's language", "find out in which language a customer writes"),
    ("parlance", "Measure first response time for each team", "Business hours only.",
     "parlance/metrics.py", "Measure the first response time of each team", "report how long clients wait for a first answer"),
    ("parlance", "Show typing indicators over websockets", "Throttle to one event in three seconds.",
     "parlance/presence.py", "Show a typing indicator over websockets", "let people see that somebody is composing a reply"),
    ("larkspur", "Log in with a one time code by mail", "Six digits, ten minutes, five guesses.",
     "src/account/login.ts", "Log in by a one time code sent by mail", "sign in with a mailed code instead of a password"),
]  # fmt: skip

# project, title, file, the error as the earlier attempt had it, the same error as it comes later
ERRORS = [
    ("tidewater", "Load dues from TOML", "harbour/dues.py",
     'Traceback (most recent call last):\n  File "/build/a/harbour/dues.py", line 12, in load\n    return table["winter"]\nKeyError: \'winter\'',
     '=== FAILURES ===\n  File "/home/runner/w/3/harbour/app.py", line 90, in start\n  File "/home/runner/w/3/harbour/dues.py", line 31, in load\n    rate = table["winter"]\nKeyError: \'winter\'\n1 failed, 40 passed in 3.21s'),
    ("tidewater", "Store reservations in SQLite", "harbour/store.py",
     'File "/b/harbour/store.py", line 4, in put\nsqlite3.OperationalError: database is locked',
     'E   File "/srv/ci/9/harbour/store.py", line 77, in put\nE     cur.execute(sql, row)\nE   sqlite3.OperationalError: database is locked\n==== 2 failed, 18 passed in 9.07s ===='),
    ("tidewater", "Draw the berth map", "harbour/map.py",
     "ModuleNotFoundError: No module named 'shapely'",
     'ImportError while loading conftest "/w/tests/conftest.py".\n  File "/w/harbour/map.py", line 2, in <module>\n    import shapely\nModuleNotFoundError: No module named \'shapely\''),
    ("tidewater", "Sum dues of a month", "harbour/dues.py",
     "FAILED tests/test_dues.py::test_month_total - AssertionError: assert 120 == 130\nE   AssertionError: assert 120 == 130",
     "tests/test_dues.py:88: in test_month_total\n    assert total == 475\nE   AssertionError: assert 455 == 475\nFAILED tests/test_dues.py::test_month_total - AssertionError: assert 455 == 475"),
    ("larkspur", "Type the price of seeds", "src/catalogue/price.ts",
     "src/catalogue/price.ts(14,3): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Money'.",
     "> tsc --noEmit\nsrc/catalogue/price.ts(140,21): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Money'.\nFound 1 error."),
    ("larkspur", "Upgrade the component library", "package.json",
     "npm ERR! ERESOLVE unable to resolve dependency tree",
     "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: petalui@4.2.0\nnpm ERR! A complete log of this run can be found in: /home/ada/.npm/_logs/2026-09-02T08_11_22_333Z-debug-0.log"),
    ("larkspur", "Keep the basket in the session", "src/basket/session.ts",
     "TypeError: Cannot read properties of undefined (reading 'basketId')\n    at restore (/app/src/basket/session.ts:20:11)",
     "  1) basket\n  TypeError: Cannot read properties of undefined (reading 'basketId')\n      at restore (/ci/77/src/basket/session.ts:31:19)\n      at run (/ci/77/node_modules/mocha/lib/runner.js:9:1)"),
    ("larkspur", "Translate plant names", "src/i18n/names.ts",
     "src/i18n/names.ts(3,9): error TS2339: Property 'latin' does not exist on type 'Plant'.",
     "src/i18n/names.ts(61,30): error TS2339: Property 'latin' does not exist on type 'Plant'.\nsrc/i18n/names.ts(75,30): error TS2339: Property 'latin' does not exist on type 'Plant'.\nFound 2 errors."),
    ("quillon", "Read notes in old encodings", "quillon/storage.py",
     'File "/x/quillon/storage.py", line 9, in read\nUnicodeDecodeError: \'utf-8\' codec can\'t decode byte 0xff in position 0: invalid start byte',
     '  File "/tmp/j/quillon/storage.py", line 52, in read\n    return path.read_text()\n  File "<frozen codecs>", line 322, in decode\nUnicodeDecodeError: \'utf-8\' codec can\'t decode byte 0xe4 in position 311: invalid start byte'),
    ("quillon", "Split the renderer into modules", "quillon/render.py",
     "ImportError: cannot import name 'Page' from partially initialized module 'quillon.render' (most likely due to a circular import)",
     "  File \"/j/quillon/links.py\", line 3, in <module>\n    from quillon.render import Page\nImportError: cannot import name 'Page' from partially initialized module 'quillon.render' (most likely due to a circular import) (/j/quillon/render.py)"),
    ("quillon", "Walk nested folders of notes", "quillon/walk.py",
     'File "/x/quillon/walk.py", line 30, in walk\nRecursionError: maximum recursion depth exceeded',
     '  File "/q/quillon/walk.py", line 31, in walk\n  [Previous line repeated 977 more times]\nRecursionError: maximum recursion depth exceeded'),
    ("quillon", "Load templates from the package", "quillon/render.py",
     "jinja2.exceptions.TemplateNotFound: note.html",
     '  File "/v/lib/python3.11/site-packages/jinja2/loaders.py", line 204, in get_source\njinja2.exceptions.TemplateNotFound: note.html'),
    ("ferrite", "Queue frames of the radio", "src/radio/queue.rs",
     "error[E0502]: cannot borrow `self.frames` as mutable because it is also borrowed as immutable\n  --> src/radio/queue.rs:40:9",
     "   Compiling ferrite v0.3.1\nerror[E0502]: cannot borrow `self.frames` as mutable because it is also borrowed as immutable\n   --> src/radio/queue.rs:212:9\n    |\n212 |         self.frames.push(x);"),
    ("ferrite", "Share the bus between tasks", "src/bus.rs",
     "error[E0277]: `Rc<Bus>` cannot be sent between threads safely\n --> src/bus.rs:10:5",
     "error[E0277]: `Rc<Bus>` cannot be sent between threads safely\n   --> src/bus.rs:55:18\n    |\n55  |     thread::spawn(move || poll(bus));"),
    ("ferrite", "Open the serial port", "src/gateway/serial.rs",
     "PermissionError: [Errno 13] Permission denied: '/dev/ttyUSB0'",
     "flash.py: trying /dev/ttyUSB0 at 115200\nPermissionError: [Errno 13] Permission denied: '/dev/ttyUSB0'\nexited with code 1 after 0.4 s"),
    ("ferrite", "Serve metrics of the gateway", "src/gateway/metrics.rs",
     "OSError: [Errno 98] Address already in use",
     "2026-08-11 07:21:33 starting exporter on :9100\nOSError: [Errno 98] Address already in use"),
    ("mosaic", "Read the size of pictures", "mosaic/images.py",
     "PIL.UnidentifiedImageError: cannot identify image file 'broken.heic'",
     '  File "/u/mosaic/images.py", line 18, in size\nPIL.UnidentifiedImageError: cannot identify image file \'/u/tests/data/broken.heic\''),
    ("mosaic", "Run the worker in tests", "mosaic/worker.py",
     "RuntimeError: This event loop is already running",
     '  File "/usr/lib/python3.11/asyncio/base_events.py", line 629, in run_until_complete\n  File "/m/mosaic/worker.py", line 44, in drain\nRuntimeError: This event loop is already running'),
    ("mosaic", "Order albums", "mosaic/albums.py",
     "FAILED tests/test_albums.py::test_order_is_stable - AssertionError: assert ['b', 'a'] == ['a', 'b']\nE  AssertionError: assert ['b', 'a'] == ['a', 'b']",
     "tests/test_albums.py:12: in test_order_is_stable\nE   AssertionError: assert ['b', 'a'] == ['a', 'b']\nE     At index 0 diff: 'b' != 'a'\nFAILED tests/test_albums.py::test_order_is_stable - AssertionError: assert ['b', 'a'] == ['a', 'b']"),
    ("mosaic", "Put pictures into the bucket", "mosaic/bucket.py",
     "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
     '  File "/v/site-packages/botocore/auth.py", line 418, in add_auth\nbotocore.exceptions.NoCredentialsError: Unable to locate credentials\nworker 3 died'),
    ("parlance", "Read settings of the inbox", "parlance/settings.py",
     "pydantic_core._pydantic_core.ValidationError: 1 validation error for InboxSettings\nsmtp_host\n  Field required",
     "pydantic_core._pydantic_core.ValidationError: 2 validation errors for InboxSettings\nsmtp_host\n  Field required [type=missing, input_value={}, input_type=dict]"),
    ("parlance", "Connect to the broker", "parlance/broker.py",
     "ConnectionRefusedError: [Errno 111] Connection refused",
     '  File "/p/parlance/broker.py", line 27, in connect\n    sock.connect((host, 5672))\nConnectionRefusedError: [Errno 111] Connection refused'),
    ("parlance", "Click through the inbox", "tests/e2e/test_inbox.py",
     "playwright._impl._errors.TimeoutError: Locator.click: Timeout 30000ms exceeded.",
     'playwright._impl._errors.TimeoutError: Locator.click: Timeout 15000ms exceeded.\nCall log:\n  - waiting for locator("#assign")'),
    ("parlance", "Join first and last names", "parlance/people.py",
     'File "/p/parlance/people.py", line 8, in full_name\nTypeError: can only concatenate str (not "NoneType") to str',
     '  File "/z/parlance/people.py", line 61, in full_name\n    return first + last\nTypeError: can only concatenate str (not "NoneType") to str'),
]  # fmt: skip

THINGS = {
    "tidewater": "reservation berth vessel arrival harbour-dues tide-table skipper pontoon mooring crane invoice customs-form",
    "larkspur": "catalogue basket order seed-packet discount delivery stock customer checkout invoice newsletter wishlist",
    "quillon": "note link front-matter notebook tag outline attachment template export search-index backlink draft",
    "ferrite": "sensor frame firmware-image gateway serial-port telemetry button battery radio watchdog calibration bootloader",
    "mosaic": "photo album thumbnail upload caption gallery share-link face-tag slideshow print-order watermark trash",
    "parlance": "conversation transcript agent webhook message team inbox canned-reply mailbox survey attachment presence",
}
PLACES = {
    "tidewater": "harbour/{}.py", "larkspur": "src/{}/index.ts", "quillon": "quillon/{}.py", "ferrite": "src/{}.rs",
    "mosaic": "mosaic/{}.py", "parlance": "parlance/{}.py",
}  # fmt: skip
WORK = [
    ("Add a field for the owner to each {a}", "Shown in the list and in the export."),
    ("Cache the {a} list for a minute", "Drop it whenever a {b} changes."),
    ("Export every {a} as CSV", "One line for each {b} that belongs to it."),
    ("Send a mail when a {a} is cancelled", "The text names the {b}."),
    ("Validate the {a} before it is saved", "Report all problems of the {b} at once."),
    ("Show the {a} history on the detail page", "Newest first, with who changed the {b}."),
    ("Delete a {a} together with its {b}", "Ask first; keep it for thirty days."),
    ("Search by the name of the {a}", "Ignore case and accents, also in the {b}."),
    ("Import {a} entries from a spreadsheet", "Rows without a {b} are reported."),
    ("Count the {a} entries of a day", "In local time; one figure for each {b}."),
    ("Retry when the {a} service does not answer", "Three tries, then mark the {b}."),
    ("Write tests for the {a} module", "Cover what happens without a {b}."),
    ("Move the {a} code into a module of its own", "The {b} uses it by its public functions."),
    ("Paginate the {a} endpoint", "Twenty a page, with the total of each {b}."),
    ("Log who opened a {a}", "Without personal details of the {b}."),
    ("Limit how many {a} requests a client may make", "Answer 429; the {b} is not affected."),
]
CONFUSERS = [
    "ModuleNotFoundError: No module named '{n}'", "KeyError: '{n}'", "TypeError: {n}() missing 1 required positional argument: '{m}'",
    "AttributeError: 'NoneType' object has no attribute '{n}'", "error TS2339: Property '{n}' does not exist on type '{m}'.",
    "FileNotFoundError: [Errno 2] No such file or directory: '{n}.json'", "E   AssertionError: assert {i} == {j}\nFAILED tests/test_{n}.py::test_{m}",
    "error[E0425]: cannot find value `{n}` in this scope\n --> src/{m}.rs:{i}:5", "ValueError: invalid literal for int() with base 10: '{n}'",
]  # fmt: skip


# name, project, kind, subject, text, the task that it was learnt from, symbols
LESSONS = [
    ("mint", "tidewater", "usage", "dock.mint_ref", "`from dock import mint_ref` then `ref = mint_ref('RSV')`",
     "Give every reservation a reference number", "mint_ref dock"),
    ("coin", "tidewater", "usage", "dock.Coin", "`from dock import Coin` then `Coin.of('12.50').plus(other)`",
     "Add up the prices of an invoice as money", "Coin dock"),
    ("fault", "tidewater", "usage", "dock.HarbourFault", "`raise HarbourFault('E_TAKEN', berth)`",
     "Raise an error when a berth is taken", "HarbourFault dock"),
    ("ledger", "tidewater", "usage", "dock.ledger", "`with ledger.session() as s: s.put(key, row, ttl_ticks=60)`",
     "Save a vessel in the ledger for a while", "ledger session"),
    ("clock", "tidewater", "usage", "dock.clock", "`from dock import clock` then `clock.ticks()`",
     "Stamp the current time on an arrival", "clock ticks"),
    ("beacon", "tidewater", "usage", "dock.beacon", "`beacon.emit(topic='berth/freed', body={'berth': berth})`",
     "Publish an event when a berth becomes free", "beacon emit"),
    ("pick", "tidewater", "usage", "dock.cfg", "`cfg.pick('mail.port', as_=int)`",
     "Read the mail port from the configuration", "cfg pick"),
    ("route", "tidewater", "usage", "dock.handler", "`@handler(on='berth.list')` above the function",
     "Register a handler that lists berths", "handler dock"),
    ("locked", "tidewater", "recovery", "operationalerror: database is locked", "harbour/store.py: `connect(timeout=30)`",
     "Store reservations in SQLite", "harbour/store.py connect"),
    ("suite", "tidewater", "command", "test", "`make check` runs the tests (41 s)",
     "Run the tests of the project", "make"),
    ("pair", "tidewater", "together", "harbour/dues.py", "`harbour/dues.py` and `docs/dues.md` change together (7 of 8)",
     "Change how harbour dues are computed", "harbour/dues.py docs/dues.md"),
    ("axis", "larkspur", "usage", "plot.Axis", "`Axis.log(base=2)` for the scale of a chart",
     "Draw a chart of orders with a logarithmic scale", "Axis plot"),
    ("layer", "mosaic", "usage", "canvas.layer", "`with canvas.layer('top') as l: l.draw(shape, z=3)`",
     "Draw a watermark above a photo", "canvas layer"),
    ("jitter", "parlance", "usage", "retry.jittered", "`@jittered(tries=5)` above what calls a webhook",
     "Retry webhook deliveries with backoff", "jittered retry"),
]  # fmt: skip

# which half of the set, task of tidewater, lessons that it needs
TASKS = [
    ("tuning", "Give each invoice a reference number of its own", "mint"),
    ("tuning", "Sum the prices of all open invoices", "coin"),
    ("tuning", "Fail with an error when the crane is taken already", "fault"),
    ("tuning", "Keep a skipper in the ledger for an hour", "ledger"),
    ("tuning", "Record the current time when a vessel leaves", "clock"),
    ("tuning", "Publish an event whenever a reservation is cancelled", "beacon"),
    ("tuning", "Read the SMTP host from the configuration", "pick"),
    ("tuning", "Register a handler for the list of vessels", "route"),
    ("tuning", "Compute harbour dues with a discount for members", "pair"),
    ("tuning", "Write a function that reverses the words of a sentence", ""),
    ("tuning", "Return the n-th Fibonacci number", ""),
    ("tuning", "Clamp a value between a lower and an upper bound", ""),
    ("tuning", "Check whether a string is a palindrome", ""),
    ("tuning", "Flatten nested lists of any depth", ""),
    ("tuning", "Remove duplicates from a list and keep the order", ""),
    ("tuning", "Add type hints to the helper functions", ""),
    ("tuning", "Merge two sorted lists into one", ""),
    ("held out", "Create a reference for a new mooring contract", "mint"),
    ("held out", "Compute the price of an invoice with tax as money", "coin"),
    ("held out", "Raise the house error if the vessel is too long", "fault"),
    ("held out", "Save the skipper's phone number in the ledger", "ledger"),
    ("held out", "Write the time of arrival into the log book", "clock"),
    ("held out", "Emit an event when the tide table changes", "beacon"),
    ("held out", "Let the port of the web server come from the configuration", "pick"),
    ("held out", "Add a handler that shows one berth", "route"),
    ("held out", "Round harbour dues to full cents", "pair"),
    ("held out", "Write a function that counts vowels in a text", ""),
    ("held out", "Convert Roman numerals to integers", ""),
    ("held out", "Find the longest common prefix of several strings", ""),
    ("held out", "Compute the median of a list of numbers", ""),
    ("held out", "Rename the package and update all imports", ""),
    ("held out", "Format a duration in seconds as hours and minutes", ""),
    ("held out", "Implement binary search over a sorted list", ""),
    ("held out", "Return the result as JSON with a version field", ""),
    ("held out", "Split a text into lines of at most eighty characters", ""),
    ("held out", "Set the default value of the option to false", ""),
    ("held out", "Draw a chart of the water level", ""),
    ("held out", "Parse command line arguments of the export script", ""),
]  # fmt: skip


def main() -> None:
    chance = random.Random(20260917)
    episodes = [*_targets(chance), *_errors(chance), *_surroundings(chance)]
    chance.shuffle(episodes)
    _write("episodes.jsonl", episodes)
    _write("queries.jsonl", _queries())
    _write("lessons.jsonl", _lessons(chance))
    _write("tasks.jsonl", _tasks())


def _targets(chance: random.Random) -> list[dict[str, Any]]:
    made = []
    for number, (project, title, text, files, _, _) in enumerate(TARGETS):
        passed = _episode(f"t{number:02}", project, title, text, files, chance, passed=True)
        made.append(passed)
        if number % 3 == 0:  # the first attempt, which failed
            twin = _episode(f"t{number:02}-first", project, title, text, files, chance, passed=False)
            made.append({**twin, "at": passed["at"] - 200 * DAY})
    return made


def _errors(chance: random.Random) -> list[dict[str, Any]]:
    made = []
    for number, (project, title, files, error, later) in enumerate(ERRORS):
        made.append({**_episode(f"e{number:02}", project, title, "", files, chance, passed=True), "error": error})
        if number % 2 == 0:  # elsewhere the same went wrong, and more was printed of it
            other = chance.choice([name for name in THINGS if name != project])
            work = WORK[number % len(WORK)][0].format(a=files.rpartition("/")[2], b="")
            abroad = _episode(f"e{number:02}-abroad", other, work, "", files, chance, passed=chance.random() < 0.5)
            made.append({**abroad, "error": later})
    return made


def _surroundings(chance: random.Random) -> list[dict[str, Any]]:
    made = []
    for project, words in THINGS.items():
        things = [word.replace("-", " ") for word in words.split()]
        for number in range(44):
            title, text = WORK[number % len(WORK)]
            a, b = chance.sample(things, 2)
            files = PLACES[project].format(a.replace(" ", "_"))
            one = _episode(
                f"{project[:2]}{number:02}", project, title.format(a=a, b=b), text.format(a=a, b=b), files, chance,
                passed=chance.random() < 0.7,
            )  # fmt: skip
            if chance.random() < 0.45:
                n, m = (each.replace(" ", "_") for each in chance.sample(things, 2))
                one["error"] = chance.choice(CONFUSERS).format(n=n, m=m, i=chance.randrange(90), j=chance.randrange(90))
            made.append(one)
    return made


def _episode(
    name: str, project: str, title: str, text: str, files: str, chance: random.Random, *, passed: bool
) -> dict[str, Any]:
    at = NEWEST - chance.randrange(5, 400) * DAY
    return {
        "id": name,
        "project": project,
        "title": title,
        "text": text,
        "files": files.split(),
        "at": at,
        "passed": passed,
    }


def _queries() -> list[dict[str, Any]]:
    near = [
        {"kind": "near", "project": target[0], "text": target[4], "expected": f"t{number:02}"}
        for number, target in enumerate(TARGETS)
    ]
    paraphrases = [
        {"kind": "paraphrase", "project": target[0], "text": target[5], "expected": f"t{number:02}"}
        for number, target in enumerate(TARGETS)
    ]
    errors = [
        {"kind": "error", "project": error[0], "text": error[4], "expected": f"e{number:02}"}
        for number, error in enumerate(ERRORS)
    ]
    return [*near, *paraphrases, *errors]


def _lessons(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {"id": name, "project": project, "kind": kind, "subject": subject, "text": text, "task": task,
         "symbols": symbols.split(), "at": NEWEST - chance.randrange(5, 200) * DAY}
        for name, project, kind, subject, text, task, symbols in LESSONS
    ]  # fmt: skip


def _tasks() -> list[dict[str, Any]]:
    return [{"half": half, "text": text, "needs": needs.split()} for half, text, needs in TASKS]


def _write(name: str, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
