#!/usr/bin/env bash
# Tests and times on the GPU of this machine, without a network: benchmarks/gpu.sh WHEELS OUT [--cpu]
# WHEELS is a folder of wheels of what this Python lacks beside NumPy, PyTorch, JAX and CuPy; `pip download
# -d WHEELS -r benchmarks/gpu.txt` fills it elsewhere. OUT gets gpu.json and gpu.md. --cpu rehearses it all
# on CPUs. $PYTHON says which Python, $TEST_SECONDS and $TIME_SECONDS how long the tests and the times may take.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
wheels=$(realpath "$1") out=$(realpath -m "$2") cpu=${3:-}
cd "$(dirname "$0")/.."
mkdir -p "$out/tests"
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/venv" --without-pip
here=$("$work/venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
"$python" - > "$here/beside.pth" << 'PYTHON'  # what this Python has, be it a virtual environment itself
import site, sysconfig

for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}:
    print(f"import site; site.addsitedir({folder!r})")
PYTHON
"$python" -m pip --python "$work/venv/bin/python" install -q --disable-pip-version-check \
    --no-index --find-links "$wheels" -r benchmarks/gpu.txt
run="$work/venv/bin/python"
export PYTHONPATH=$PWD XLA_PYTHON_CLIENT_PREALLOCATE=false QUOTAKERNELS_XLA_OPTIMIZES=1

libraries="torch jax" share=$((${TEST_SECONDS:-480} / 2))
[ -n "$cpu" ] || { libraries="torch cupy jax"; share=$((${TEST_SECONDS:-480} / 3)); export QUOTAKERNELS_ON_DEVICE="torch jax"; }
for library in $libraries; do
    echo "== tests of $library"
    QUOTAKERNELS_QUICK_OF=$library timeout "$share" "$run" -m pytest -q -m quick -W default -p no:cacheprovider \
        tests/test_small_cases.py tests/test_relations.py tests/test_table_measures.py tests/test_confusion.py \
        tests/test_best_cut.py tests/test_bad_values.py 2>&1 | tee "$out/tests/$library.txt" | tail -1 ||
        echo "ended early, or failed" | tee -a "$out/tests/$library.txt"
done
echo "== transfers"
timeout 120 "$run" -m pytest -q -W default -p no:cacheprovider tests/test_transfers.py 2>&1 |
    tee "$out/tests/transfers.txt" | tail -1 || echo "ended early, or failed" | tee -a "$out/tests/transfers.txt"

echo "== times"
"$run" -m benchmarks.device.lane $cpu --seconds "${TIME_SECONDS:-480}" --tests "$out/tests" \
    --json "$out/gpu.json" --page "$out/gpu.md" ${SIZES:+--sizes $SIZES}
