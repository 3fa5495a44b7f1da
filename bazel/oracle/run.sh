#!/usr/bin/env bash
# Runs a unittest module with the Python that has TensorFlow: run.sh FILE.py
home=$(getent passwd "$(id -u)" | cut -d: -f6)
python=${SLUICE_ORACLE_PYTHON:-${SLUICE_HOME:-$home/.cache/sluice}/oracle/bin/python}
if [ ! -x "$python" ]; then
  echo "no TensorFlow at $python: run tools/install" >&2
  exit 1
fi
export TF_CPP_MIN_LOG_LEVEL=2 TF_ENABLE_ONEDNN_OPTS=0 CUDA_VISIBLE_DEVICES= PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
exec "$python" bazel/oracle/run.py "$@"
