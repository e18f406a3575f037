#!/usr/bin/env bash
# One ensemble on many ranks: each takes ranges of members as it becomes free, one GPU per rank; rank 0 writes.
#
#   sbatch --export=ALL,STUDY=configs/slung_load.toml,RESULTS=results/slung_load docs/slurm/mpi.sh
#
# Submitted again after a failure or a time limit, it resumes from its checkpoint. Without GPUs omit --gpus-per-task and set the
# cores of every rank with --cpus-per-task.
#SBATCH --job-name=zwang
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

zwang=${ZWANG:-zwang}
study=${STUDY:?the study to run}
results=${RESULTS:?the folder for the results}

# Debian's Open MPI and Slurm connect through pmix; `srun --mpi=list` shows what a cluster supports.
code=0
srun --mpi=pmix "$zwang" run "$study" --out "$results" --resume --quiet --yes "$@" || code=$?

# Interrupted, with a checkpoint: submit again.
if [[ $code -eq 130 ]]; then
  scontrol requeue "$SLURM_JOB_ID"
  exit 0
fi
exit "$code"
