#!/usr/bin/env bash
# One ensemble as a job array: every task runs a shard, on whatever machine and at whatever time.
#
#   sbatch --export=ALL,STUDY=configs/slung_load.toml,RESULTS=results/slung_load docs/slurm/array.sh
#   sbatch --export=ALL,RESULTS=results/slung_load --dependency=afterok:<job> docs/slurm/merge.sh
#
# A task that runs out of time records what it has done and goes back to the queue; a task that is sent again, for
# whatever reason, goes on where it stood, and has nothing to do where it was complete. Shards are joined only where all
# were integrated by the same kind of device.
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

# A shard needs no other ranks, whoever started this script. More options of `run` may stand behind the script's name.
export ZWANG_MPI=off
"$zwang" run "$study" --shard "$shard" --out "$results.shards/$SLURM_ARRAY_TASK_ID" \
  --threads "${SLURM_CPUS_PER_TASK:-0}" --resume --quiet "$@" &
run=$!

# A signal ends the waiting, not the run: then wait once more.
trap 'kill -TERM "$run"' TERM
code=0
wait "$run" || code=$?
if [[ $code -eq 143 ]]; then
  code=0
  wait "$run" || code=$?
fi

# Interrupted, and what was done is kept: once more.
if [[ $code -eq 130 ]]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  exit 0
fi
exit "$code"
