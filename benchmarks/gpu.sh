#!/usr/bin/env bash
# Tests and times on the GPU of this machine, without a network: benchmarks/gpu.sh WHEELS OUT [--cpu]
# WHEELS is a folder of wheels of what this Python lacks beside NumPy, PyTorch, JAX and CuPy: `pip download --no-deps
# -d WHEELS -r benchmarks/gpu.txt` fills it elsewhere. OUT gets what each part prints, gpu.json, written as
# results come, so that a run that is cut off still tells. --cpu rehearses it all on CPUs. $PYTHON says which
# Python, $TEST_SECONDS and $TIME_SECONDS how long all tests, which run side by side, and the times may take.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }
wheels=$(realpath "$1") out=$(realpath -m "$2") cpu=${3:-}
cd "$(dirname "$0")/.."
mkdir -p "$out"
python=${PYTHON:-python3} cores=$(nproc) seconds=${TEST_SECONDS:-210}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for wheel in "$wheels"/*.whl; do "$python" -m zipfile -e "$wheel" "$work"; done
export PYTHONPATH=$PWD:$work PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false QUOTAKERNELS_XLA_OPTIMIZES=1
export JAX_COMPILATION_CACHE_DIR=$work/programs JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
[ -n "$cpu" ] || export QUOTAKERNELS_ON_DEVICE="torch jax"

first() {  # LIBRARY: it imports, and one value is right
    timeout 60 "$python" - "$1" <<'PYTHON' 2>&1 | tail -4 | sed "s/^/$1: /"
import importlib, sys, time

import quotakernels as qk

start = time.perf_counter()
library = importlib.import_module(sys.argv[1])
array = getattr(library, "asarray", None) or library.numpy.asarray
where = {"device": "cuda"} if sys.argv[1] == "torch" and library.cuda.is_available() else {}
found = qk.roc_auc(array([1, 0, 1, 0], **where), array([0.9, 0.8, 0.7, 0.1], **where))
device = found.device() if callable(getattr(found, "device", None)) else found.device
print(f"{library.__version__}, {device}: {float(found)}, after {time.perf_counter() - start:.1f} s")
PYTHON
}

tests() {  # PART WORKERS ARGUMENTS: all that fit into the seconds, the failures of what ran at the end
    local part=$1 workers=$2
    shift 2
    timeout -s INT -k 20 "$seconds" "$python" -m pytest -n "$workers" -v -p no:cacheprovider -W default --tb=short \
        --maxfail=40 -m "" --continue-on-collection-errors "$@" > "$out/$part.txt" 2>&1
    echo "$part: exit $?; $(grep -E '^=+ .*(passed|failed|error|no tests)' "$out/$part.txt" | tail -1)"
}

small="tests/ops/test_ops.py tests/inputs/test_values.py"
for name in small_cases relations table_measures confusion best_cut groups; do
    small+=" tests/measures/test_$name.py"
done
each=$(((cores + 3) / 4))  # JAX compiles for each test, and gets twice as many workers
for library in cupy torch jax; do first $library; done
tests device "$each" tests/libraries/test_transfers.py tests/libraries/test_cuda.py &
tests cupy "$each" -k cupy tests &
tests torch "$each" -k "torch and not compile" $small &
tests jax $((2 * each)) -k "jax and (jit or vmap)" $small &
wait

"$python" -m benchmarks.device.lane $cpu --seconds "${TIME_SECONDS:-200}" --tests "$out" \
    --json "$out/gpu.json" ${SIZES:+--sizes $SIZES}
