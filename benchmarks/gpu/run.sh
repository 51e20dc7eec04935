#!/bin/sh
# Measures the kernels and whole denoise steps on the GPU of this machine: benchmarks/gpu/run.sh [--minutes 5] [--out FOLDER]
# Needs Python with torch, triton, numpy and safetensors; no network, no installation.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
echo "$("$python" --version), $(uname -sr)"
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
if command -v compute-sanitizer >/dev/null && [ "${SANITIZE:-1}" = 1 ]; then
    # The allocator's pool would hide a read beyond a tensor.
    PYTORCH_NO_CUDA_MEMORY_CACHING=1 timeout 100 compute-sanitizer --tool memcheck --error-exitcode 9 --print-limit 5 \
        "$python" -m benchmarks.gpu.run --tiny --only checks >"${TMPDIR:-/tmp}/mercury-memcheck.txt" 2>&1 && rc=0 || rc=$?
    echo "memory checker: exit $rc (0 clean, 9 errors, 124 out of time)"
    [ "$rc" = 0 ] || tail -n 15 "${TMPDIR:-/tmp}/mercury-memcheck.txt"
fi
exec "$python" -m benchmarks.gpu.run "$@"
