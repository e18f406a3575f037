#!/usr/bin/env bash
# One ensemble as a job array: every task runs one shard, on any machine at any time.
#
#   sbatch --export=ALL,STUDY=configs/slung_load.toml,RESULTS=results/slung_load docs/slurm/array.sh
#   sbatch --export=ALL,RESULTS=results/slung_load --dependency=afterok:<job> docs/slurm/merge.sh
#
# A task that runs out of time writes a checkpoint and returns to the queue. A task that is submitted again resumes from its
# checkpoint, and does nothing if it was complete. Shards can be joined only if all were integrated by the same kind of device.
#SBATCH --job-name=zwang
#SBATCH --array=1-8
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

zwang=${ZWANG:-zwang}
study=${STUDY:?the study to run}
results=${RESULTS:?the folder for the results}
shard=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT

# A shard uses no MPI ranks, however this script was started. Further options of `run` may follow the script's name.
export ZWANG_MPI=off
"$zwang" run "$study" --shard "$shard" --out "$results.shards/$SLURM_ARRAY_TASK_ID" \
  --threads "${SLURM_CPUS_PER_TASK:-0}" --resume --quiet --yes "$@" &
run=$!

# A signal interrupts `wait`, not the run: wait again.
trap 'kill -TERM "$run"' TERM
code=0
wait "$run" || code=$?
if [[ $code -eq 143 ]]; then
  code=0
  wait "$run" || code=$?
fi

# Interrupted, with a checkpoint: submit again.
if [[ $code -eq 130 ]]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  exit 0
fi
exit "$code"
