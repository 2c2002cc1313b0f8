# ruff: noqa: E501 - tables are read line by line
"""A second labelled set, which nothing was ever tuned on.

The rules that it was written by, before anything was asked of it:

- It was written whole and committed without running the search and without reading its code; what the first set is
  like, and that errors are looked for by signature and the rest by words, was known. What is asked stays as it was
  committed, whatever comes out; a better set would be a third one.
- Its episodes are added to those of the first set, in the same projects, so that each is one of fifty.
- A *paraphrase* is how somebody would ask for the same who never saw the task: of the words of its title and text that
  have five letters or more, at most two come again.
- An *error* is the same failure as it is printed elsewhere: other paths, lines, values and surroundings. Its kinds of
  error are not those of the first set, and for each there is an *alike* one in the same project: the same kind of
  error, with other names.
- What is looked for is now and then an attempt that failed (every fourth), and neither the newest nor the oldest: days
  are dealt out by counting.
"""

from __future__ import annotations

from typing import Any

NEWEST = 1_790_000_000
DAY = 86_400

# project, title, text, files, how somebody else asks for the same
PARAPHRASES = [
    ("tidewater", "Refund the deposit when a booking is cancelled in time", "Full amount until two days before, half of it afterwards.",
     "harbour/refunds.py", "give people their money back if they call off early enough"),
    ("tidewater", "Print berth labels as PDF", "A6, one label a page, number in large type.",
     "harbour/labels.py", "stickers for the berths, ready for the printer"),
    ("tidewater", "Lock out an account after ten wrong passwords", "For a quarter of an hour; the owner is told.",
     "harbour/accounts.py", "slow down somebody who guesses passwords"),
    ("tidewater", "Draw a weekly occupancy heat map", "Rows are pontoons, columns are hours.",
     "harbour/heatmap.py", "picture of how full the marina was in each hour of a week"),
    ("tidewater", "Translate the booking form into Danish", "Strings come from the catalogue, plural forms included.",
     "harbour/i18n.py", "danish visitors should read the form in their own language"),
    ("larkspur", "Round prices to five cents for cash payments", "Only the sum, never single lines.",
     "src/checkout/rounding.ts", "total at the till must end in a 0 or a 5 when paid with coins"),
    ("larkspur", "Suggest companion plants on the product page", "At most four, none that is sold out.",
     "src/catalogue/companions.ts", "recommend what grows well beside this one"),
    ("larkspur", "Block orders to countries under quarantine rules", "The table is refreshed every night.",
     "src/checkout/quarantine.ts", "we may not ship seeds to some places"),
    ("larkspur", "Resize product images on the fly", "Width in the address, cached for a year.",
     "src/images/resize.ts", "serve smaller pictures to phones"),
    ("larkspur", "Merge the guest basket into the account on login", "Amounts are added, up to what is in stock.",
     "src/basket/merge.ts", "things put in the cart before signing in get lost"),
    ("quillon", "Show unsaved changes before closing the window", "A list of the notes, each can be kept or dropped.",
     "quillon/closing.py", "warn me when I quit and have edits that were not written"),
    ("quillon", "Encrypt notebooks with a passphrase", "Argon2 for the key, one salt for each notebook.",
     "quillon/vault.py", "protect private notebooks by a password"),
    ("quillon", "Undo across restarts", "The last two hundred steps are kept beside the note.",
     "quillon/history.py", "revert an edit even after the program was closed and opened again"),
    ("quillon", "Generate a table of contents from headings", "Three levels, links that survive renaming.",
     "quillon/contents.py", "overview at the top with jumps to each heading"),
    ("quillon", "Sync notes over WebDAV", "Conflicts are kept as two files.",
     "quillon/webdav.py", "have the same notes on my laptop and on the server"),
    ("ferrite", "Sleep between measurements to save battery", "Wake by the real time clock only.",
     "src/power/sleep.rs", "device should last longer on one charge"),
    ("ferrite", "Roll back to the previous image when boot fails thrice", "A counter in the backup register.",
     "src/boot/rollback.rs", "recover from an update that does not start"),
    ("ferrite", "Encode readings as CBOR", "Integers only, scaled by a hundred.",
     "src/telemetry/encode.rs", "make the payload of readings more compact than text"),
    ("ferrite", "Reconnect the radio after interference", "Change the channel at the third loss.",
     "src/radio/link.rs", "radio does not come back once the signal was disturbed"),
    ("ferrite", "Blink an error code on the status lamp", "Long and short, like Morse.",
     "src/status/lamp.rs", "tell by the led what is broken"),
    ("mosaic", "Blur faces in public albums", "Only where the owner switched it on.",
     "mosaic/blur.py", "make people unrecognisable in what everybody can see"),
    ("mosaic", "Resume interrupted uploads", "Chunks of four megabytes, known by their hash.",
     "mosaic/resume.py", "continue sending a big file after the connection broke"),
    ("mosaic", "Group photos by place on a map", "Clusters that open when one zooms in.",
     "mosaic/places.py", "where was it taken: pins for nearby pictures"),
    ("mosaic", "Order prints through the lab's interface", "Sizes from their price list, paid in advance.",
     "mosaic/prints.py", "buy pictures on paper from the laboratory"),
    ("mosaic", "Empty the trash after sixty days", "A note goes out a week before.",
     "mosaic/trash.py", "purge deleted items for good after two months"),
    ("parlance", "Close conversations that were silent for a week", "A last message asks whether all is well.",
     "parlance/closing.py", "end stale threads automatically"),
    ("parlance", "Suggest canned replies by similarity", "Three at most, above the text field.",
     "parlance/suggest.py", "propose a prepared answer that fits the question"),
    ("parlance", "Block senders who flood the inbox", "Thirty messages a minute, for an hour.",
     "parlance/flood.py", "stop spammers from writing too often"),
    ("parlance", "Merge duplicate customers by address", "Keep the older one, move all conversations.",
     "parlance/merge.py", "the same person exists twice in our contacts"),
    ("parlance", "Play a sound for urgent tickets", "Not at night, volume from the settings.",
     "parlance/sound.py", "ring loudly when something important arrives"),
]  # fmt: skip

# project, title, file, the error then, the same error elsewhere, one alike with other names
ERRORS = [
    ("tidewater", "Add the column for the flag", "harbour/store.py",
     "sqlite3.OperationalError: no such column: vessels.flag",
     "tests/test_store.py F..\n  File \"/agent/_work/2/s/harbour/store.py\", line 140, in by_flag\n    rows = db.execute(QUERY, (flag,))\nsqlite3.OperationalError: no such column: vessels.flag\n2 passed, 1 failed in 0.88s",
     "sqlite3.OperationalError: no such column: berths.depth"),
    ("tidewater", "Read arrival times with their zone", "harbour/times.py",
     "TypeError: can't compare offset-naive and offset-aware datetimes",
     "harbour/times.py:57: in is_late\n    return arrival > now\nE   TypeError: can't compare offset-naive and offset-aware datetimes\n=== short test summary info ===\nFAILED tests/test_times.py::test_late",
     "TypeError: can't subtract offset-naive and offset-aware datetimes"),
    ("tidewater", "Type the tariff table", "harbour/tariff.py",
     'harbour/tariff.py:19: error: Incompatible return value type (got "float", expected "Decimal")  [return-value]',
     'harbour/__init__.py: note: in module\nharbour/tariff.py:204: error: Incompatible return value type (got "float", expected "Decimal")  [return-value]\nFound 1 error in 1 file (checked 37 source files)',
     'harbour/cranes.py:19: error: Incompatible return value type (got "str", expected "int")  [return-value]'),
    ("tidewater", "Fetch the tide forecast", "harbour/forecast.py",
     "requests.exceptions.SSLError: HTTPSConnectionPool(host='tides.example', port=443): Max retries exceeded (Caused by SSLError(SSLCertVerificationError(1, 'certificate has expired')))",
     "During handling of the above exception, another exception occurred:\n  File \"/opt/w/harbour/forecast.py\", line 33, in fetch\nrequests.exceptions.SSLError: HTTPSConnectionPool(host='tides.example', port=443): Max retries exceeded with url: /v2/day (Caused by SSLError(SSLCertVerificationError(1, '[SSL] certificate has expired (_ssl.c:1006)')))",
     "requests.exceptions.SSLError: HTTPSConnectionPool(host='maps.example', port=443): Max retries exceeded (Caused by SSLError(SSLCertVerificationError(1, 'self-signed certificate')))"),
    ("larkspur", "Test the wishlist component", "src/wishlist/List.test.tsx",
     "TestingLibraryElementError: Unable to find an element with the text: Add to wishlist",
     " FAIL  src/wishlist/List.test.tsx > wishlist > adds\nTestingLibraryElementError: Unable to find an element with the text: Add to wishlist. This could be because the text is broken up by multiple elements.\n\nIgnored nodes: comments, script, style\n Test Files  1 failed | 12 passed (13)",
     "TestingLibraryElementError: Unable to find an element with the text: Remove from basket"),
    ("larkspur", "Bundle the shop for old browsers", "vite.config.ts",
     'error during build:\nRollupError: Could not resolve "./polyfill/intl" from "src/main.ts"',
     'vite v5.4.2 building for production...\ntransforming (212) src/app.tsx\nx Build failed in 1.90s\nerror during build:\nRollupError: Could not resolve "./polyfill/intl" from "src/main.ts"\n    at getRollupError (file:///ci/5/node_modules/rollup/dist/es/shared/parseAst.js:396:41)',
     'error during build:\nRollupError: Could not resolve "./icons/leaf" from "src/menu.ts"'),
    ("larkspur", "Lint the hooks of the checkout", "src/checkout/useTotal.ts",
     "src/checkout/useTotal.ts\n  12:6  error  React Hook useEffect has a missing dependency: 'rate'  react-hooks/exhaustive-deps",
     "> eslint . --max-warnings 0\n\n/builds/larkspur/src/checkout/useTotal.ts\n  48:9  error  React Hook useEffect has a missing dependency: 'rate'. Either include it or remove the dependency array  react-hooks/exhaustive-deps\n\n1 problem (1 error, 0 warnings)",
     "src/basket/useCount.ts\n  8:6  error  React Hook useEffect has a missing dependency: 'items'  react-hooks/exhaustive-deps"),
    ("larkspur", "Start the mail service in its container", "Dockerfile",
     "Error: Cannot find module '/app/dist/mailer.js'",
     "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module '/srv/shop/dist/mailer.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)\n  code: 'MODULE_NOT_FOUND',\nNode.js v22.3.0",
     "Error: Cannot find module '/app/dist/orders.js'"),
    ("quillon", "Count words of all notes at once", "quillon/count.py",
     "AttributeError: Can't pickle local object 'count_all.<locals>.one'",
     "  File \"/usr/lib/python3.12/multiprocessing/reduction.py\", line 51, in dumps\n    cls(buf, protocol).dump(obj)\nAttributeError: Can't pickle local object 'count_all.<locals>.one'\nProcess ended with 1",
     "AttributeError: Can't pickle local object 'index_all.<locals>.job'"),
    ("quillon", "Watch the folder for changes", "quillon/watch.py",
     "OSError: [Errno 28] inotify watch limit reached",
     "Exception in thread Thread-3:\n  File \"/home/dev/q/quillon/watch.py\", line 71, in start\n    observer.schedule(self, path, recursive=True)\nOSError: [Errno 28] inotify watch limit reached",
     "OSError: [Errno 24] inotify instance limit reached"),
    ("quillon", "Await the preview server", "quillon/preview.py",
     "RuntimeWarning: coroutine 'Preview.refresh' was never awaited",
     "tests/test_preview.py::test_reload\n  /w/quillon/preview.py:88: RuntimeWarning: coroutine 'Preview.refresh' was never awaited\n    self.refresh()\n  Enable tracemalloc to get traceback where the object was allocated.\n1 failed in 0.40s",
     "RuntimeWarning: coroutine 'Importer.fetch' was never awaited"),
    ("quillon", "Sort imports of the exporters", "quillon/exporters.py",
     "quillon/exporters.py:3:1: F401 [*] `os.path` imported but unused",
     "quillon/exporters.py:17:8: F401 [*] `os.path` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\nmake: *** [Makefile:12: lint] Error 1",
     "quillon/tags.py:3:1: F401 [*] `json.decoder` imported but unused"),
    ("ferrite", "Parse the frame header", "src/radio/header.rs",
     "thread 'header::tests::short' panicked at src/radio/header.rs:22:14:\nindex out of bounds: the len is 3 but the index is 4",
     "running 19 tests\ntest header::tests::short ... FAILED\n\n---- header::tests::short stdout ----\nthread 'header::tests::short' panicked at src/radio/header.rs:61:20:\nindex out of bounds: the len is 7 but the index is 8\nnote: run with `RUST_BACKTRACE=1`\n\ntest result: FAILED. 18 passed; 1 failed",
     "thread 'queue::tests::full' panicked at src/radio/queue.rs:9:14:\nindex out of bounds: the len is 1 but the index is 1"),
    ("ferrite", "Link the bootloader into flash", "memory.x",
     "rust-lld: error: section '.rodata' will not fit in region 'FLASH': overflowed by 1312 bytes",
     "error: linking with `rust-lld` failed: exit status: 1\n  = note: rust-lld: error: section '.rodata' will not fit in region 'FLASH': overflowed by 20480 bytes\nerror: could not compile `ferrite` (bin \"boot\") due to 1 previous error",
     "rust-lld: error: section '.bss' will not fit in region 'RAM': overflowed by 96 bytes"),
    ("ferrite", "Build the C driver of the display", "drivers/display.c",
     "drivers/display.c:77:5: error: implicit declaration of function 'spi_burst' [-Werror=implicit-function-declaration]",
     "cargo:warning=drivers/display.c: In function 'flush':\ncargo:warning=drivers/display.c:131:9: error: implicit declaration of function 'spi_burst'; did you mean 'spi_start'? [-Werror=implicit-function-declaration]\ncc1: all warnings being treated as errors",
     "drivers/buzzer.c:12:5: error: implicit declaration of function 'pwm_start' [-Werror=implicit-function-declaration]"),
    ("ferrite", "Update the gateway's dependencies", "Cargo.toml",
     "error: failed to select a version for `embassy-time`.",
     "    Updating crates.io index\nerror: failed to select a version for `embassy-time`.\n    ... required by package `ferrite v0.4.0 (/ci/ferrite)`\nversions that meet the requirements `^0.3` are: 0.3.2, 0.3.1",
     "error: failed to select a version for `heapless`."),
    ("mosaic", "Migrate captions to their own table", "mosaic/migrations/0012.py",
     'psycopg.errors.UniqueViolation: duplicate key value violates unique constraint "captions_photo_key"',
     'ERROR [alembic] step 0012 failed\npsycopg.errors.UniqueViolation: duplicate key value violates unique constraint "captions_photo_key"\nDETAIL:  Key (photo)=(88121) already exists.',
     'psycopg.errors.UniqueViolation: duplicate key value violates unique constraint "albums_owner_key"'),
    ("mosaic", "Decode large panoramas", "mosaic/panorama.py",
     "PIL.Image.DecompressionBombError: Image size (356000000 pixels) exceeds limit of 178956970 pixels",
     "worker-2  |   File \"/code/mosaic/panorama.py\", line 25, in load\nworker-2  | PIL.Image.DecompressionBombError: Image size (402653184 pixels) exceeds limit of 178956970 pixels, could be decompression bomb DOS attack.",
     "PIL.Image.DecompressionBombWarning: Image size (90000000 pixels) exceeds limit of 89478485 pixels"),
    ("mosaic", "Stub the bucket in tests", "tests/test_bucket.py",
     "E       fixture 'fake_bucket' not found",
     "file /repo/tests/test_bucket.py, line 31\n  def test_put(fake_bucket):\nE       fixture 'fake_bucket' not found\n>       available fixtures: cache, capfd, tmp_path\n1 error in 0.12s",
     "E       fixture 'sample_album' not found"),
    ("mosaic", "Hand pictures to the worker pool", "mosaic/pool.py",
     "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.",
     "Traceback (most recent call last):\n  File \"/data/run/mosaic/pool.py\", line 90, in drain\n    done.result()\nconcurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.\nKilled",
     "concurrent.futures._base.TimeoutError: 3 (of 8) futures unfinished"),
    ("parlance", "Consume events of the survey", "parlance/consumer.py",
     "kafka.errors.CommitFailedError: the group has already rebalanced and assigned the partitions to another member",
     "[2026-08-30 11:02:55] WARNING heartbeat expired\n  File \"/p/parlance/consumer.py\", line 66, in poll\nkafka.errors.CommitFailedError: CommitFailedError: the group has already rebalanced and assigned the partitions to another member.",
     "kafka.errors.NoBrokersAvailable: NoBrokersAvailable"),
    ("parlance", "Render the transcript page", "parlance/pages.py",
     "django.urls.exceptions.NoReverseMatch: Reverse for 'transcript' with no arguments not found.",
     "Internal Server Error: /inbox/91\n  File \"/venv/lib/python3.12/site-packages/django/urls/resolvers.py\", line 831, in _reverse_with_prefix\ndjango.urls.exceptions.NoReverseMatch: Reverse for 'transcript' with no arguments not found. 1 pattern(s) tried: ['inbox/(?P<pk>[0-9]+)/transcript']",
     "django.urls.exceptions.NoReverseMatch: Reverse for 'survey' with no arguments not found."),
    ("parlance", "Compile the Go relay", "relay/main.go",
     "relay/main.go:41:2: undefined: flushQueue",
     "# parlance/relay\n./relay/main.go:108:9: undefined: flushQueue\nFAIL    parlance/relay [build failed]\nmake: *** [relay] Error 1",
     "relay/main.go:12:2: undefined: parseHeader"),
    ("parlance", "Guard the map of open sockets", "relay/hub.go",
     "fatal error: concurrent map writes",
     "fatal error: concurrent map writes\n\ngoroutine 84 [running]:\nmain.(*Hub).join(0xc0001a2000, 0x7)\n\t/go/src/parlance/relay/hub.go:52 +0x9c\nexit status 2",
     "fatal error: all goroutines are asleep - deadlock!"),
]  # fmt: skip


def episodes() -> list[dict[str, Any]]:
    """What is added to the episodes of the first set."""
    asked_for = [
        _episode(f"p{number:02}", number, project, title, text, files)
        for number, (project, title, text, files, _) in enumerate(PARAPHRASES)
    ]
    failed_so = [
        _episode(f"x{number:02}", number, project, title, "", files) | {"error": error}
        for number, (project, title, files, error, _, _) in enumerate(ERRORS)
    ]
    alike = [
        _episode(f"x{number:02}-alike", number + 7, project, "Look into a failure of the build", "", "")
        | {"error": other}
        for number, (project, _, _, _, _, other) in enumerate(ERRORS)
    ]
    return [*asked_for, *failed_so, *alike]


def queries() -> list[dict[str, Any]]:
    """What is asked, and which episode it should find."""
    return [
        {"kind": "paraphrase", "project": row[0], "text": row[4], "expected": f"p{number:02}"}
        for number, row in enumerate(PARAPHRASES)
    ] + [
        {"kind": "error", "project": row[0], "text": row[4], "expected": f"x{number:02}"}
        for number, row in enumerate(ERRORS)
    ]


def _episode(name: str, number: int, project: str, title: str, text: str, files: str) -> dict[str, Any]:
    at = NEWEST - (10 + number * 37 % 380) * DAY
    return {
        "id": name, "project": project, "title": title, "text": text, "files": files.split(), "at": at,
        "passed": number % 4 != 3,
    }  # fmt: skip
