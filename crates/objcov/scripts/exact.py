"""Compares marks with breakpoints, block for block: exact.py FOLDER FILE.ll PASSES (see exact-llvm.sh)."""
import collections, pathlib, subprocess, sys

folder, source, passes = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def symbols(program):
    found = collections.defaultdict(list)
    for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            found[words[2]].append(int(words[0], 16))
    return found


plain, instrumented = symbols(folder / "exact-plain"), symbols(folder / "exact-instrumented")
start = instrumented["__start___objcov"][0]
rows = []
for index in sorted((folder / "cov").glob("*.index")):
    for line in index.read_text().splitlines():
        marks, symbol, first, blocks = line.split("\t")
        if marks in instrumented:  # Else the linker kept another copy.
            rows.append((marks, symbol, int(first, 16), blocks))
copies = collections.Counter(row[1] for row in rows)
blocks, n_ambiguous = [], 0
for marks, symbol, first, pairs in rows:
    if copies[symbol] != 1 or len(plain.get(symbol, [])) != 1:
        n_ambiguous += 1  # Static functions of the same name cannot be told apart by symbol.
        continue
    for pair in pairs.split():
        offset, slot = pair.split(":")
        address = plain[symbol][0] + int(offset, 16) - first
        blocks.append((address, instrumented[marks][0] - start + int(slot), symbol, offset))
(folder / "addresses").write_text("".join(f"{address:x}\n" for address in sorted({block[0] for block in blocks})))
arguments = [source, passes, str(folder / "marks")]
probed = subprocess.run([folder / "exact-instrumented", *arguments], capture_output=True)
hits = (folder / "marks").read_bytes()
observer = [folder / "observer", "traps", folder / "addresses", folder / "seen", folder / "exact-plain"]
observed = subprocess.run([*observer, *arguments], capture_output=True)
seen = {int(line, 16) for line in (folder / "seen").read_text().split()}
wrong = [block for block in blocks if bool(hits[block[1]]) != (block[0] in seen)]
print(f"{len(blocks)} blocks compared, {n_ambiguous} functions ambiguous, same output: {probed.stdout == observed.stdout}")
print(f"{sum(bool(hits[block[1]]) for block in blocks)} hit by probes, {len(seen)} by breakpoints, {len(wrong)} differ")
for _, _, symbol, offset in wrong[:20]:
    print("differs:", symbol, offset)
sys.exit(bool(wrong))
