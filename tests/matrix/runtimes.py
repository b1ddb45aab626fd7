# SPDX-License-Identifier: MIT
"""runtimes.py PORTPROF [FILE]: what profiles of runtimes and builds hold, as a table;
it takes the place of the one in FILE, doc/runtimes.md. Each program runs some function
for half a second; a cell is names, whole chains and lines in percent of the weight
outside the kernel, and whether an inlined function is seen. What is not on this machine
is left out.

runtimes.py PORTPROF --check FILE [WORD...]: a verdict on each cell of the programs with
such a word in their name: what is under 95 % has a sentence in FILE that says why."""
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

portprof = os.path.abspath(sys.argv[1])
checks = sys.argv[2:3] == ["--check"]
page = os.path.abspath(sys.argv[2 + checks]) if len(sys.argv) > 2 else None
words = sys.argv[4:]
BACKENDS = ("perf", "timer", "itimer")
LEAST = 95
FIELDS = ("names", "chains", "inlines", "lines")
# (programs, what is less than it should be, how the sentence begins that says why)
EXPLAINED = (
    ("stripped", "names inlines lines", "Stripped programs"),
    ("no -g", "inlines lines", "Without `-g`"),
    ("-static|musl", "refused", "Static and musl programs"),
    ("packed", "inlines", "-gsplit-dwarf"),
    ("Ada|Fortran|OCaml", "inlines", "Ada, Fortran and OCaml"),
    ("musl", "chains", "musl"),
    ("perf_jit", "missing", "Python -X perf_jit"),
    ("Python", "inlines lines", "Python"),
    ("node|Java|PHP|Erlang", "inlines lines", "Code made while running"),
    ("PHP", "chains", "PHP and Erlang"),
    ("Erlang", "names chains", "PHP and Erlang"),
)
C = r"""
#include <time.h>
volatile unsigned long x;
static inline __attribute__((always_inline)) void inlined_part(int n)
{ for (int i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void busy_function(void) { inlined_part(2000000); x++; }
__attribute__((noinline)) void outer_function(void) { busy_function(); x++; }
int main(void)
{
	struct timespec t;
	do {
		outer_function();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_nsec < 500000000 && !t.tv_sec);
}
"""
RUST = r"""
use std::time::Instant;
#[inline(always)] fn inlined_part(x: u64) -> u64 { std::hint::black_box(x * 31 + 7) }
#[inline(never)] fn busy_function(n: u64) -> u64 { (0..n).fold(0, |a, b| inlined_part(a ^ b)) }
#[inline(never)] fn outer_function() -> u64 { busy_function(200000) + 1 }
fn main() {
    let t = Instant::now();
    let mut s = 0;
    while t.elapsed().as_millis() < 700 { s ^= outer_function(); }
    println!("{}", s);
}
"""
ADA = """
procedure M is
   X : Long_Long_Integer := 0;
   pragma Volatile (X);
   procedure Busy_Function (N : Integer) is
   begin
      for I in 1 .. N loop X := X + Long_Long_Integer (I); end loop;
   end Busy_Function;
   pragma No_Inline (Busy_Function);
begin
   for I in 1 .. 3000 loop Busy_Function (100000); end loop;
end M;
"""
D = """
module m;
__gshared ulong x;
pragma(inline, true) void inlined_part(int n) { foreach (i; 0 .. n) x = x * 3 + i; }
pragma(inline, false) void busy_function(int n) { inlined_part(n); x++; }
pragma(inline, false) void outer_function() { busy_function(200_000); x++; }
void main() { foreach (i; 0 .. 3000) outer_function(); }
"""
FORTRAN = """
program m
  integer(8) :: x = 0
  integer :: i
  do i = 1, 3000
    call busy_function(x, 100000)
  end do
  print *, x
contains
  subroutine busy_function(x, n)
    integer(8), volatile :: x
    integer :: n, i
    do i = 1, n
      x = x * 3 + i
    end do
  end subroutine
end program
"""
OCAML = """
let busy_function n = let s = ref 0 in for i = 1 to n do s := (!s * 31 + i) mod 1000003 done; !s
let () = for _ = 1 to 100 do ignore (Sys.opaque_identity (busy_function 1000000)) done
"""
PHP = """<?php
function busy_function($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s = ($s * 31 + $i) % 1000003; return $s; }
for ($i = 0; $i < 60; $i++) busy_function(1000000);
"""
ERLANG = """
-module(m). -export([main/0, busy_function/2]).
busy_function(0, S) -> S;
busy_function(N, S) -> busy_function(N - 1, (S * 31 + N) rem 1000003).
main() -> loop(60), halt().
loop(0) -> ok;
loop(N) -> busy_function(1000000, 0), loop(N - 1).
"""
PLUGIN = """
volatile unsigned long x;
static inline __attribute__((always_inline)) void inlined_part(int n)
{ for (int i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void busy_function(void) { inlined_part(2000000); x++; }
"""
PYTHON = """
import time
def busy_function():
    s = 0
    for i in range(20000):
        s += i * i % 7
    return s
def outer_function():
    while time.process_time() < 1:
        busy_function()
outer_function()
"""
NODE = """
function busy_function(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s }
function outer_function() { let t = 0; const b = Date.now(); while (Date.now() - b < 1000) t += busy_function(200000); return t }
console.log(outer_function());
"""
JAVA = """
public class M {
    static long busy_function(int n) { long s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
    static long outer_function(int n) { long t = 0; for (int i = 0; i < n; i++) t += busy_function(20000); return t; }
    public static void main(String[] a) { long t = 0; for (int i = 0; i < 40; i++) t += outer_function(1000); System.out.println(t); }
}
"""
MEMORY = """
import os, sys
fd = os.memfd_create("held")
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["held"], os.environ)
"""
PLUGS = """
import ctypes, os, time
fd = os.memfd_create("plugin")
os.write(fd, open("plugin.so", "rb").read())
busy_function = ctypes.CDLL(f"/proc/self/fd/{fd}").busy_function
while time.process_time() < 1:
    busy_function()
"""


def sh(*words):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def built(words, out):
    """Where a language's compiler makes objects, too, they are in a folder of their own."""
    done = shutil.which(words[0]) and sh(*words, "-o", out)
    for path in glob.glob("m.o") + glob.glob("m.cm*"):
        os.remove(path)
    return [f"./{out}"] if done else None


def without_debug(out):
    """Its symbols and debug information are in a file that its link names."""
    return all(sh("objcopy", *words) for words in (
        ("--only-keep-debug", out, f"{out}.dbg"), ("--strip-all", out),
        (f"--add-gnu-debuglink={out}.dbg", out)))


def programs():
    """(name, command or None, has inlined_part, is of a runtime)"""
    for name, text in (("m.c", C), ("m.cc", C), ("m.rs", RUST), ("m.py", PYTHON),
                       ("m.js", NODE), ("M.java", JAVA), ("memory.py", MEMORY),
                       ("m.adb", ADA), ("m.d", D), ("m.f90", FORTRAN), ("m.ml", OCAML),
                       ("m.php", PHP), ("m.erl", ERLANG), ("plugin.c", PLUGIN),
                       ("plugs.py", PLUGS)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    for name, words in (
            ("C, gcc -O2 -g", "gcc -O2 -g m.c"),
            ("C, clang -O2 -g", "clang -O2 -g m.c"),
            ("C, gcc -O2, no -g", "gcc -O2 m.c"),
            ("C, gcc -O2 -g -static", "gcc -O2 -g -static m.c"),
            ("C, gcc -O2 -g -gsplit-dwarf", "gcc -O2 -g -gsplit-dwarf -gdwarf-5 m.c"),
            ("C, gcc -gdwarf-4 -gsplit-dwarf", "gcc -O2 -g -gsplit-dwarf -gdwarf-4 m.c"),
            ("C, clang -O2 -g -gsplit-dwarf", "clang -O2 -g -gsplit-dwarf m.c"),
            ("C, clang -gdwarf-4 -gsplit-dwarf", "clang -O2 -g -gsplit-dwarf -gdwarf-4 m.c"),
            ("C, gcc -O2 -g -flto", "gcc -O2 -g -flto m.c"),
            ("C, gcc -O2 -g -no-pie", "gcc -O2 -g -no-pie m.c"),
            ("C, gcc -O2 -g -static-pie", "gcc -O2 -g -static-pie m.c"),
            ("C, gcc -O2 -g -gz=zlib", "gcc -O2 -g -gz=zlib m.c"),
            ("C, gcc -O2 -g -gdwarf64", "gcc -O2 -g -gdwarf64 m.c"),
            ("C, gcc, GNU ld, text beside data", "gcc -O2 -g -Wl,-z,noseparate-code m.c"),
            ("C, gcc, GNU ld, -z pack-relative-relocs",
             "gcc -O2 -g -Wl,-z,pack-relative-relocs m.c"),
            ("C, gcc, gold", "gcc -O2 -g -fuse-ld=gold m.c"),
            ("C, gcc, mold", "gcc -O2 -g -fuse-ld=mold m.c"),
            ("C, clang, lld", "clang -O2 -g -fuse-ld=lld m.c"),
            ("C, musl-gcc -O2 -g", "musl-gcc -O2 -g m.c"),
            ("C++, g++ -O2 -g", "g++ -O2 -g m.cc"),
            ("Rust, -O -g", "rustc -O -g m.rs"),
            ("Rust, split-debuginfo=packed", "rustc -O -g -C split-debuginfo=packed m.rs"),
            ("D, gdc -O2 -g", "gdc -O2 -g m.d"),
            ("Ada, gnatmake -O1 -g", "gnatmake -q -O1 -g m.adb"),
            ("Fortran, gfortran -O1 -g", "gfortran -O1 -fno-inline -g m.f90"),
            ("OCaml, ocamlopt -g", "ocamlopt -g m.ml")):
        out = "p" + str(abs(hash(name)))
        yield name, built(words.split(), out)
        if name == "C, gcc -O2 -g" and os.path.exists(out):
            shutil.copy(out, "stripped")
            sh("strip", "stripped")
            yield "the same, stripped", ["./stripped"]
            shutil.copy(out, "apart")
            yield ("the same, with its debug file beside it",
                   ["./apart"] if without_debug("apart") else None)
            yield "the same, from memory (memfd)", [sys.executable, "memory.py", out]
    yield ("C, a library from memory (memfd)",
           [sys.executable, "plugs.py"] if sh("gcc", "-O2", "-g", "-shared", "-fPIC", "-o",
                                              "plugin.so", "plugin.c") else None)
    for version in ("3.12", "3.13"):
        found = [p for p in (shutil.which(f"python{version}"), *sorted(glob.glob(
            os.path.expanduser(f"~/.pyenv/versions/{version}*/bin/python3")))) if p and
            sh(p, "-c", "pass")]
        for flag in ("perf",) + (("perf_jit",) if version != "3.12" else ()):
            yield f"Python {version}, -X {flag}", found and [found[0], "-X", flag, "m.py"]
    node = shutil.which("node")
    yield "node, --perf-basic-prof", node and [node, "--perf-basic-prof", "m.js"]
    yield ("PHP, opcache.jit, jit_debug=16", shutil.which("php") and [
        "php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M", "-d",
        "opcache.jit=tracing", "-d", "opcache.jit_debug=16", "m.php"])
    erlang = shutil.which("erlc") and sh("erlc", "m.erl") and [
        "erl", "+JPperf", "true", "-noshell", "-s", "m", "main"]
    yield "Erlang, +JPperf true", erlang
    java = shutil.which("java") and sh("javac", "M.java") and [
        "java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
        "-XX:+PreserveFramePointer", "-cp", ".", "M"]
    yield "Java, +PreserveFramePointer +DumpPerfMapAtExit", java


def report(*more):
    done = subprocess.run([portprof, "report", "-n", "0", "-j", *more, "p.pb.gz"],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def with_lines():
    done = subprocess.run([portprof, "report", "-n", "0", "-x", "|", "-s",
                           "line,function,module", "p.pb.gz"], capture_output=True,
                          text=True, check=False)
    return sum(int(row["self"]) for row in csv.DictReader(
        done.stdout.splitlines(), delimiter="|", quoting=csv.QUOTE_NONE)
        if row["module"] != "[kernel]" and row["line"] not in ("", "0"))


def measure(command, backend):
    """FIELDS, or why there is nothing."""
    if os.path.exists("p.pb.gz"):
        os.remove("p.pb.gz")
    done = subprocess.run([portprof, "record", "-q", "-g", "-F", "499", "-b", backend,
                           "-o", "p.pb.gz", "--", *command], capture_output=True,
                          text=True, check=False)
    if done.returncode or not os.path.exists("p.pb.gz"):
        return "refused"
    all_rows, lined = report("--inline"), with_lines()
    rows = [f for f in all_rows["functions"] if f["module"] != "[kernel]"]
    weight = sum(f["self_weight"] for f in rows) or 1
    named = sum(f["self_weight"] for f in rows if f["named"])
    chains = all_rows["chains"]
    whole = 100 - 100 * (chains["cut"] + chains["end_early"]) / (chains["weight"] or 1)
    names = " ".join(f["name"] for f in all_rows["functions"])
    if "busy_function" not in names and 100 * named / weight > 50:
        return "its functions are missing"
    return (round(100 * named / weight), round(whole), "inlined_part" in names,
            round(100 * lined / weight))


def cell(found):
    if isinstance(found, str):
        return found
    return f"{found[0]} / {found[1]} / {'yes' if found[2] else 'no'} / {found[3]}"


def less(found):
    """What of a cell is less than it should be."""
    if isinstance(found, str):
        return ["refused" if found == "refused" else "missing"]
    return [field for field, value in zip(FIELDS, found)
            if (not value if field == "inlines" else value < LEAST)]


def check():
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, command in programs():
        if not command or (words and not any(word in name for word in words)):
            continue
        for backend in BACKENDS:
            found = measure(command, backend)
            unsaid = [what for what in less(found) if not any(
                re.search(which, name) and what in whats.split() and f"- **{why}**" in text
                for which, whats, why in EXPLAINED)]
            print("not ok" if unsaid else "ok", f"{name}, {backend}: {cell(found)}",
                  *unsaid, flush=True)


def main():
    if checks:
        check()
        return
    table = ["| Program | " + " | ".join(BACKENDS) + " |", "|---|" + "---|" * len(BACKENDS)]
    for name, command in programs():
        if command:
            table.append(f"| {name} | " + " | ".join(
                cell(measure(command, backend)) for backend in BACKENDS) + " |")
            print(table[-1], flush=True)
    if page:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^\| Program .*\n(\|.*\n)*",
                              lambda _: "\n".join(table) + "\n", text))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
