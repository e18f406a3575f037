#!/usr/bin/env bash
# One ensemble by many ranks at the same time: each takes pieces as it gets done, one GPU a rank, rank 0 writes.
#
#   sbatch --export=ALL,STUDY=configs/slung_load.toml,RESULTS=results/slung_load docs/slurm/mpi.sh
#
# Sent again after a failure or a time limit it goes on where it stood. Without GPUs leave --gpus-per-task out and give
# every rank its cores with --cpus-per-task.
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

# pmix is how Debian's Open MPI and Slurm find one another; `srun --mpi=list` names what a cluster has.
code=0
srun --mpi=pmix "$zwang" run "$study" --out "$results" --resume --quiet "$@" || code=$?

# Interrupted, and what was done is kept: once more.
if [[ $code -eq 130 ]]; then
  scontrol requeue "$SLURM_JOB_ID"
  exit 0
fi
exit "$code"
